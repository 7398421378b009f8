import { gvrKey } from '../../../src/kube/gvr.js';
import { apiVersionOf, type ResourceKind } from '../../../src/kube/resource-kind.js';
import { templatesOf } from '../../../src/tools/rehearse/templates.js';
import type { KubeObject } from '../../real/rig/http-client.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import { servedOnlyByNewer } from '../../real/rig/surface-of.js';

/** The first API of objects in namespaces that the newer version serves by default and the older one does not. */
export function newerApi(older: KubeVersion, newer: KubeVersion): ResourceKind {
  const found = servedOnlyByNewer({ a: older, b: newer, c: newer }).find(({ namespaced }) => namespaced);
  if (found === undefined) throw new Error(`${newer} serves no objects in namespaces that ${older} does not serve`);
  const { group, version, resource } = found;
  return { ...found, key: gvrKey(group, version, resource), verbs: new Set() };
}

/** The resource as kubectl takes it. */
export function resourceArgument({ group, version, resource }: ResourceKind): string {
  return `${resource}.${version}.${group}`;
}

/** A valid object that no controller acts on. */
export function newerObject(api: ResourceKind, name: string): KubeObject {
  const [template] = templatesOf(api, []);
  return { apiVersion: apiVersionOf(api), kind: api.kind, metadata: { name }, ...template };
}

import { readFileSync } from 'node:fs';
import { type BuiltInSurface, readSurface } from '../../../src/apiserver/surfaces/built-in-surface.js';
import { SHIPPED_SURFACES } from '../../../src/apiserver/surfaces/shipped-versions.js';
import { type KubeVersion, minorOf } from './pinned-versions.js';

/** A resource, or a subresource as `csinodes/status`. */
export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

const surfaces = new Map<string, BuiltInSurface>();

/** What a kube-apiserver of that minor version serves: the file that ships with Straddle and was captured from a real one. */
export function surfaceOf(version: KubeVersion): BuiltInSurface {
  const minor = minorOf(version);
  const surface = surfaces.get(minor) ?? readSurface(readFileSync(new URL(`${minor}.json`, SHIPPED_SURFACES), 'utf8'));
  surfaces.set(minor, surface);
  return surface;
}

/** Undefined: not served, whatever the flags. */
export function servedBy(
  version: KubeVersion,
  { group, version: apiVersion, resource }: ResourceName,
): 'by default' | 'if switched on' | undefined {
  const [name, subresource] = resource.split('/');
  const ofVersion = surfaceOf(version)
    .groups.find((each) => each.name === group)
    ?.versions.find((each) => each.version === apiVersion);
  const found = ofVersion?.resources.find((each) => each.name === name);
  if (ofVersion === undefined || found === undefined) return undefined;
  if (subresource !== undefined && !found.subresources?.some((each) => each.name === subresource)) return undefined;
  return ofVersion.offByDefault || found.offByDefault ? 'if switched on' : 'by default';
}

/** The resources that B and C serve with default flags and A does not, without subresources. */
export function servedOnlyByNewer(servers: {
  readonly a: KubeVersion;
  readonly b: KubeVersion;
  readonly c: KubeVersion;
}) {
  const all = surfaceOf(servers.b).groups.flatMap(({ name: group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map(({ name, kind, namespaced }) => ({ group, version, resource: name, kind, namespaced })),
    ),
  );
  return all.filter(
    (each) =>
      servedBy(servers.a, each) !== 'by default' &&
      servedBy(servers.b, each) === 'by default' &&
      servedBy(servers.c, each) === 'by default',
  );
}

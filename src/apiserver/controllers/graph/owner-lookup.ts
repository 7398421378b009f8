import type { ApiClient } from '../../../kube/client/api-client.js';
import { text } from '../../../kube/fields.js';
import type { JsonObject } from '../../../kube/json.js';
import { metadataOf } from '../../../kube/metadata-of.js';
import { pathOf } from '../../../kube/resource-kind.js';
import { readFound } from '../answers.js';
import type { CatalogueReader } from '../resource-catalogue.js';
import type { GoneObjects } from './gone-objects.js';
import type { OwnerReference } from './owner-reference.js';

/** The state of an owner. Only `absent` may lead to a deletion; `unknown` is retried. */
export type OwnerState =
  | { readonly kind: 'present'; readonly object: JsonObject }
  | { readonly kind: 'absent' }
  /** A namespaced owner of a cluster-scoped object; Kubernetes never resolves it. */
  | { readonly kind: 'unresolvable' }
  | { readonly kind: 'unknown'; readonly why: string };

export interface OwnerLookupOptions {
  readonly client: ApiClient;
  readonly reader: CatalogueReader;
  readonly gone: GoneObjects;
}

/**
 * Reads an owner from the control plane. It is absent if a watch reported its deletion, if its name
 * has another UID, or if a server replies that the object does not exist and live servers served
 * its kind both before and after the request. Every other answer may be from a server that does not
 * serve the kind.
 */
export async function lookUpOwner(
  { client, reader, gone }: OwnerLookupOptions,
  reference: OwnerReference,
  dependentNamespace: string,
): Promise<OwnerState> {
  if (gone.has(reference, dependentNamespace)) return { kind: 'absent' };
  const { apiVersion, kind, name, uid } = reference;
  const resource = (await reader.read()).ofKind(apiVersion, kind);
  if (!resource) return unknown(`no server is known to serve ${kind} of ${apiVersion}`);
  if (!resource.isCurrent) return unknown(`the servers that served ${kind} of ${apiVersion} have gone away`);
  if (resource.namespaced && dependentNamespace === '') return { kind: 'unresolvable' };
  const target = pathOf(resource, dependentNamespace, name);
  const found = readFound(await client.request({ method: 'GET', target, metadataOnly: true }), name);
  if (found.kind === 'unknown') return unknown(`${target}: ${found.why}`);
  if (found.kind === 'present') {
    return text(metadataOf(found.object), 'uid') === uid ? found : { kind: 'absent' };
  }
  const after = (await reader.read()).ofKey(resource.key);
  if (!after?.isCurrent) return unknown(`${kind} of ${apiVersion} went away while its owner was looked for`);
  return { kind: 'absent' };
}

function unknown(why: string): OwnerState {
  return { kind: 'unknown', why };
}

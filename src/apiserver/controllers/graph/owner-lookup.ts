import type { ApiClient } from '../../../kube/client/api-client.js';
import type { JsonObject } from '../../../kube/json.js';
import { metadataOf } from '../../../kube/metadata-of.js';
import { pathOf } from '../../../kube/resource-kind.js';
import { readFound, textOf } from '../answers.js';
import type { CatalogueReader } from '../resource-catalogue.js';
import type { GoneObjects } from './gone-objects.js';
import type { OwnerReference } from './owner-reference.js';

/** What is known of an owner. Only `absent` ever leads to a deletion, and only `unknown` is worth asking again. */
export type OwnerState =
  | { readonly kind: 'present'; readonly object: JsonObject }
  | { readonly kind: 'absent' }
  /** A cluster-wide object can't belong to something in a namespace; Kubernetes never resolves that. */
  | { readonly kind: 'unresolvable' }
  | { readonly kind: 'unknown'; readonly why: string };

export interface OwnerLookupOptions {
  readonly client: ApiClient;
  readonly reader: CatalogueReader;
  readonly gone: GoneObjects;
}

/**
 * Asks the control plane for an owner. It is absent if it was seen to be deleted, if another object has its name, or if a
 * server that serves its kind says that there is no such object, and discovery vouches for that kind both before and
 * after. Every other answer may come from a server that does not know.
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
    return textOf(metadataOf(found.object), 'uid') === uid ? found : { kind: 'absent' };
  }
  const after = (await reader.read()).ofKey(resource.key);
  if (!after?.isCurrent) return unknown(`${kind} of ${apiVersion} went away while its owner was looked for`);
  return { kind: 'absent' };
}

function unknown(why: string): OwnerState {
  return { kind: 'unknown', why };
}

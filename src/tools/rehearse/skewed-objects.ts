import { isSuccess } from '../../kube/client/api-client.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import { type Api, itemsOf } from './api-connection.js';
import type { SkewedObject } from './load-client.js';
import type { Plan } from './plan.js';
import { createSkewed } from './scene.js';
import type { SkewedSubresource } from './skew.js';

const LIST_ITEMS_MAX = 1_000;

export interface SkewedPlace {
  /** A server of the newer version. */
  readonly api: Api;
  /** The namespace of the load, and the beginning of every name outside of it. */
  readonly prefix: string;
}

/** Creates one object of each resource of which clients are to use a subresource. */
export async function createSubresourceObjects(
  subresources: readonly SkewedSubresource[],
  { api, prefix }: SkewedPlace,
): Promise<SkewedObject[]> {
  const name = `${prefix}-subresource`;
  const made = new Set<string>();
  const objects: SkewedObject[] = [];
  for (const of of subresources) {
    if (!made.has(of.kind.key)) await createSkewed(api, of, prefix, name);
    made.add(of.kind.key);
    objects.push({ of, target: `${pathOf(of.kind, prefix, name)}/${of.subresource}` });
  }
  return objects;
}

/** Counts the objects of this rehearsal in skewed resources. */
export async function countSkewed({ resources }: Plan, { api, prefix }: SkewedPlace): Promise<number> {
  let count = 0;
  for (const { kind } of resources) count += (await ownObjects(kind, { api, prefix })).length;
  return count;
}

/** Deletes the objects of this rehearsal that no namespace takes with it. A failure here is not a finding. */
export async function deleteClusterScoped({ resources, subresources }: Plan, place: SkewedPlace): Promise<void> {
  const kinds = new Map([...resources, ...subresources].map(({ kind }) => [kind.key, kind]));
  for (const kind of kinds.values()) {
    if (kind.namespaced) continue;
    for (const object of await ownObjects(kind, place)) {
      await place.api.request({ method: 'DELETE', target: pathOf(kind, '', nameOf(object)) });
    }
  }
}

async function ownObjects(kind: ResourceKind, { api, prefix }: SkewedPlace): Promise<JsonObject[]> {
  const answer = await api.request({ method: 'GET', target: `${pathOf(kind, '')}?limit=${LIST_ITEMS_MAX}` });
  if (!isSuccess(answer)) return [];
  const placeOf = (object: JsonObject): string =>
    kind.namespaced ? String(metadataOf(object)['namespace'] ?? '') : nameOf(object);
  return itemsOf(answer).filter((each) => placeOf(each).startsWith(prefix));
}

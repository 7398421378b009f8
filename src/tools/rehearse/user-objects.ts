import type { Clock } from '../../base/clock.js';
import { isSuccess } from '../../kube/client/api-client.js';
import { type JsonObject, objectMember } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { apiVersionOf, pathOf, type ResourceKind, resourceKindsOf } from '../../kube/resource-kind.js';
import { type Api, messageOf } from './api-connection.js';
import { pause } from './pause.js';

const DEFINITION = 'CustomResourceDefinition';
const SERVED_WITHIN_MS = 20_000;
const POLL_MS = 200;

export interface Applied {
  /** Paths of the objects created. */
  readonly paths: readonly string[];
  /** Objects of kinds that this server does not serve. */
  readonly left: readonly JsonObject[];
}

/** Creates the user's objects: definitions, then namespaces, then the rest. */
export async function applyUserObjects(
  api: Api,
  manifests: readonly JsonObject[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Applied> {
  if (manifests.length === 0) return { paths: [], left: [] };
  const definitions = manifests.filter((each) => each['kind'] === DEFINITION);
  const rest = manifests.filter((each) => each['kind'] !== DEFINITION);
  const isNamespace = (object: JsonObject): boolean => object['kind'] === 'Namespace';
  const namespacesFirst = rest.toSorted((left, right) => Number(isNamespace(right)) - Number(isNamespace(left)));
  const before = await localKinds(api);
  for (const each of definitions) await createOne(api, each, kindOf(each, before)!);
  const kinds = await untilServed(api, definitions, { clock, signal });
  const paths: string[] = [];
  const left: JsonObject[] = [];
  for (const each of namespacesFirst) {
    const kind = kindOf(each, kinds);
    if (kind) paths.push(await createOne(api, each, kind));
    else left.push(each);
  }
  return { paths, left };
}

export function describeObject(object: JsonObject): string {
  return `${String(object['apiVersion'])} ${String(object['kind'])} ${nameOf(object)}`;
}

async function localKinds(api: Api): Promise<ResourceKind[]> {
  const { status, groups } = await api.discover('local');
  if (status !== 200) throw new Error(`Discovery cannot be read: ${status}.`);
  return resourceKindsOf(groups);
}

function kindOf(object: JsonObject, kinds: readonly ResourceKind[]): ResourceKind | undefined {
  return kinds.find(
    (each) => each.kind === object['kind'] && apiVersionOf(each) === object['apiVersion'] && each.verbs.has('create'),
  );
}

async function createOne(api: Api, object: JsonObject, kind: ResourceKind): Promise<string> {
  const { namespace } = metadataOf(object);
  const place = kind.namespaced ? (typeof namespace === 'string' ? namespace : 'default') : '';
  const answer = await api.request({ method: 'POST', target: pathOf(kind, place), body: object });
  // 409: created by an earlier half on the same store.
  if (!isSuccess(answer) && answer.status !== 409)
    throw new Error(
      `${describeObject(object)} of the manifests was refused: ${answer.status} ${messageOf(answer.body)}`,
    );
  return pathOf(kind, place, nameOf(object));
}

/** Waits until the resources of new definitions are served. */
async function untilServed(
  api: Api,
  definitions: readonly JsonObject[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ResourceKind[]> {
  const deadlineMs = clock.nowMs() + SERVED_WITHIN_MS;
  for (;;) {
    const kinds = await localKinds(api);
    const missing = definitions.find((each) => !kinds.some((kind) => isDefinedBy(kind, each)));
    if (!missing) return kinds;
    if (clock.nowMs() > deadlineMs || signal.aborted)
      throw new Error(`${describeObject(missing)} is not served after ${SERVED_WITHIN_MS / 1_000} s.`);
    await pause(clock, POLL_MS, signal);
  }
}

function isDefinedBy({ group, kind }: ResourceKind, definition: JsonObject): boolean {
  const spec = objectMember(definition, 'spec');
  return spec['group'] === group && objectMember(spec, 'names')['kind'] === kind;
}

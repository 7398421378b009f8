import type { Clock } from '../../base/clock.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { apiVersionOf, pathOf, type ResourceKind, resourceKindsOf } from '../../kube/resource-kind.js';
import { type Api, isSuccess, messageOf } from './api-connection.js';
import { pause } from './pause.js';

const DEFINITION = 'CustomResourceDefinition';
const SERVED_WITHIN_MS = 20_000;
const POLL_MS = 200;

export interface Applied {
  /** Paths of what was created. */
  readonly paths: readonly string[];
  /** Of kinds that this server does not serve. */
  readonly left: readonly JsonObject[];
}

/** Creates the user's objects: definitions first, then namespaces, then the rest. Throws a sentence that names the object. */
export async function applyUserObjects(
  api: Api,
  manifests: readonly JsonObject[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Applied> {
  if (manifests.length === 0) return { paths: [], left: [] };
  const definitions = manifests.filter((each) => each['kind'] === DEFINITION);
  const rest = manifests.filter((each) => each['kind'] !== DEFINITION);
  const namespacesFirst = [...rest].sort((left, right) => rank(left) - rank(right));
  const before = await ownKinds(api);
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

function rank(object: JsonObject): number {
  return object['kind'] === 'Namespace' ? 0 : 1;
}

async function ownKinds(api: Api): Promise<ResourceKind[]> {
  const { status, groups } = await api.discover('own');
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
  // There from an earlier half on the same store.
  if (!isSuccess(answer) && answer.status !== 409)
    throw new Error(
      `${describeObject(object)} of the manifests was refused: ${answer.status} ${messageOf(answer.body)}`,
    );
  return pathOf(kind, place, nameOf(object));
}

/** A definition's resources come a moment after it. */
async function untilServed(
  api: Api,
  definitions: readonly JsonObject[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ResourceKind[]> {
  const deadlineMs = clock.nowMs() + SERVED_WITHIN_MS;
  for (;;) {
    const kinds = await ownKinds(api);
    const missing = definitions.find((each) => !kinds.some((kind) => isDefinedBy(kind, each)));
    if (!missing) return kinds;
    if (clock.nowMs() > deadlineMs || signal.aborted)
      throw new Error(`${describeObject(missing)} is not served after ${SERVED_WITHIN_MS / 1_000} s.`);
    await pause(clock, POLL_MS, signal);
  }
}

function isDefinedBy({ group, kind }: ResourceKind, definition: JsonObject): boolean {
  const spec = member(definition, 'spec');
  const names = isObject(spec) ? member(spec, 'names') : undefined;
  return isObject(spec) && isObject(names) && spec['group'] === group && names['kind'] === kind;
}

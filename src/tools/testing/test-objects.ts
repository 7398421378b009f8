import { setTimeout as delay } from 'node:timers/promises';
import type { Destination } from '../../http/outgoing.js';
import { text } from '../../kube/fields.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { askServer } from '../plane/plane-client.js';

const SEEN_MS_MAX = 30_000;
const POLL_MS = 20;

/** A server of the control plane, as the library itself asks it. */
export interface AskedServer {
  readonly name: string;
  readonly destination: Destination;
}

/** Creates an object, or replaces the one of that name. Resolves with the new one; `what` begins the error. */
export async function putObject(
  servers: readonly AskedServer[],
  what: string,
  collection: string,
  object: JsonObject,
): Promise<JsonObject> {
  const { destination } = servers[0] ?? noServer(what);
  const name = nameOf(object);
  const made = await askServer(destination, 'POST', collection, { body: object });
  if (made.status !== 409) return accepted(what, made);
  return accepted(
    what,
    await askServer(destination, 'PUT', `${collection}/${encodeURIComponent(name)}`, { body: object }),
  );
}

/** Removes an object, if it is there. */
export async function removeObject(servers: readonly AskedServer[], what: string, path: string): Promise<void> {
  const { destination } = servers[0] ?? noServer(what);
  const answer = await askServer(destination, 'DELETE', path);
  if (answer.status !== 404) accepted(what, answer);
}

/** Resolves when every server has seen the version of the object, and so acts on it. */
export async function untilSeen(
  servers: readonly AskedServer[],
  what: string,
  collection: string,
  object: JsonObject,
): Promise<void> {
  await untilRevision(servers, what, collection, text(metadataOf(object), 'resourceVersion'));
}

/** Resolves when every server acts on this version of the store. */
export async function untilRevision(
  servers: readonly AskedServer[],
  what: string,
  collection: string,
  version: string,
): Promise<void> {
  const target = `${collection}?limit=1&resourceVersionMatch=NotOlderThan&resourceVersion=${version}`;
  await Promise.all(
    servers.map(({ destination }) =>
      untilTrue(what, async () => (await askServer(destination, 'GET', target)).status === 200),
    ),
  );
}

/** Asks again and again. Rejects when it takes too long. */
export async function untilTrue(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + SEEN_MS_MAX;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > endMs)
      throw new Error(`${what}: not in effect on every server after ${SEEN_MS_MAX / 1000} s.`);
    await delay(POLL_MS);
  }
}

export function accepted(
  what: string,
  { status, body }: { readonly status: number; readonly body: JsonObject },
): JsonObject {
  if (status >= 200 && status <= 299) return body;
  throw new Error(`${what}: ${status}: ${text(body, 'message')}`);
}

function noServer(what: string): never {
  throw new Error(`${what}: no server of this control plane runs.`);
}

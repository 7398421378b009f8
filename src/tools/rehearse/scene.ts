import type { Clock } from '../../base/clock.js';
import { type ApiAnswer, isSuccess, MERGE_PATCH } from '../../kube/client/api-client.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { pathOf } from '../../kube/resource-kind.js';
import { type Api, messageOf, uidOf } from './api-connection.js';
import type { HalfRecord } from './half-record.js';
import type { MeasuredClient } from './measured-client.js';
import { pause } from './pause.js';
import type { ServedTruth } from './served-truth.js';
import { type Skew, skewedObject } from './skew.js';

/** The surroundings of scenes. */
export interface Stage {
  /** The resources that only the newer version serves; scenes without any are not set. */
  readonly skews: readonly Skew[];
  /** Prefix of every name, so that halves and rehearsals do not collide on one control plane. */
  readonly prefix: string;
  /** The namespace of the load, which exists. */
  readonly namespace: string;
  readonly straight: { serving(): Api | undefined };
  /** A client at the front door. */
  readonly client: MeasuredClient;
  readonly truth: ServedTruth;
  readonly record: HalfRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Reports scenes that could not be set, because they show nothing. */
  readonly note: (sentence: string) => void;
}

const TRIES_MAX = 25;
const BETWEEN_TRIES_MS = 200;

/** Creates an object; rejects with the message of the server if it refuses. */
export async function create(api: Api, target: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api.request({ method: 'POST', target, body });
  if (!isSuccess(answer)) throw new Error(`POST ${target}: ${answer.status} ${messageOf(answer.body)}`);
  return answer.body;
}

/**
 * Creates an object of the skewed kind and removes the finalizers that its server may have added,
 * because the rehearsal does not run their controllers. Resolves with the UID.
 */
export async function createSkewed(api: Api, skew: Skew, namespace: string, name: string): Promise<string> {
  const collection = pathOf(skew.kind, namespace);
  const made = await create(api, collection, skewedObject(skew, { name }));
  if (Array.isArray(metadataOf(made)['finalizers'])) {
    const body = { metadata: { finalizers: null } };
    const target = `${collection}/${name}`;
    const freed = await api.request({ method: 'PATCH', target, body, contentType: MERGE_PATCH });
    if (!isSuccess(freed)) throw new Error(`PATCH ${target}: ${freed.status} ${messageOf(freed.body)}`);
  }
  return uidOf(made);
}

/** Runs `work` so many times at once; rejects with the first failure when all have ended. */
export async function allOf(count: number, work: () => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(Array.from({ length: Math.max(0, count) }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Sends a request again until `isDone` accepts the reply. Resolves with false if it never does. */
export async function insist(
  { clock, signal }: Stage,
  send: () => Promise<ApiAnswer>,
  isDone: (answer: ApiAnswer) => boolean,
): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX && !signal.aborted; tries++) {
    if (isDone(await send())) return true;
    await pause(clock, BETWEEN_TRIES_MS, signal);
  }
  return false;
}

import type { Clock } from '../../base/clock.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { pathOf } from '../../kube/resource-kind.js';
import { type Api, type ApiAnswer, isSuccess, messageOf } from './api-connection.js';
import type { HalfRecord } from './half-record.js';
import type { MeasuredClient } from './measured-client.js';
import type { ServedTruth } from './served-truth.js';
import { type Skew, skewedObject } from './skew.js';

/** What scenes are made with. */
export interface Stage {
  readonly skew: Skew;
  /** Begins every name, so that halves and rehearsals do not meet on one control plane. */
  readonly prefix: string;
  /** Where the load is; it exists. */
  readonly namespace: string;
  readonly straight: { serving(): Api | undefined };
  /** At the front door. */
  readonly client: MeasuredClient;
  readonly truth: ServedTruth;
  readonly record: HalfRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Says what could not be done: a scene that is not set shows nothing. */
  readonly note: (sentence: string) => void;
}

const MERGE_PATCH = 'application/merge-patch+json';

/** Rejects with what the server said where it refused. */
export async function create(api: Api, target: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api.request({ method: 'POST', target, body });
  if (!isSuccess(answer)) throw new Error(`POST ${target}: ${answer.status} ${messageOf(answer.body)}`);
  return answer.body;
}

/**
 * An object of the skewed kind, without the finalizers that its server may have put on it: those are for controllers of
 * that kind, which no rehearsal runs, and would hold it for ever.
 */
export async function createSkewed(
  api: Api,
  { kind, ...skew }: Skew,
  namespace: string,
  name: string,
): Promise<string> {
  const collection = pathOf(kind, namespace);
  const made = metadataOf(await create(api, collection, skewedObject({ kind, ...skew }, { name })));
  if (Array.isArray(made['finalizers'])) {
    const body = { metadata: { finalizers: null } };
    const target = `${collection}/${name}`;
    const freed = await api.request({ method: 'PATCH', target, body, contentType: MERGE_PATCH });
    if (!isSuccess(freed)) throw new Error(`PATCH ${target}: ${freed.status} ${messageOf(freed.body)}`);
  }
  return String(made['uid'] ?? '');
}

/** So many at once; rejects with the first failure when all have ended. */
export async function allOf(count: number, work: () => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(Array.from({ length: Math.max(0, count) }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

export function uidOf({ body }: ApiAnswer): string {
  return String(metadataOf(body)['uid'] ?? '');
}

import type { Clock } from '../../base/clock.js';
import { readBody } from '../../http/body-stream.js';
import { Deadline } from '../../http/deadline.js';
import type { Exchange, Handler } from '../../http/exchange.js';
import { type JsonObject, member, objectMember, parsedObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { onBehalfOf } from '../discovery/on-behalf-of.js';

export interface CallerRightsOptions {
  /** Sends API requests as the caller. */
  readonly judge: Handler;
  readonly clock: Clock;
}

/** `unanswered`: the API server could not be asked; `why` is the reason. */
export type Right = { readonly kind: 'allowed' | 'denied' } | Unanswered;

export interface Unanswered {
  readonly kind: 'unanswered';
  readonly why: string;
}

const REVIEW_BYTES_MAX = 64 * 1024;
const REVIEW_MS_MAX = 5_000;

/**
 * Asks the API server, as the caller, for the right to a path of Straddle's own (SelfSubjectAccessReview). Rejects with a
 * StatusError (401) if it does not know the caller.
 */
export async function rightToPath(
  exchange: Exchange,
  attributes: { readonly path: string; readonly verb: string },
  options: CallerRightsOptions,
): Promise<Right> {
  const answer = await review(exchange, ACCESS, { spec: { nonResourceAttributes: attributes } }, options);
  if (answer.kind !== 'reviewed') return answer;
  return { kind: answer.status['allowed'] === true ? 'allowed' : 'denied' };
}

/** Asks the API server who the caller is (SelfSubjectReview): the user that it judges, after impersonation. */
export async function callerName(
  exchange: Exchange,
  options: CallerRightsOptions,
): Promise<{ readonly kind: 'named'; readonly user: string; readonly groups: readonly string[] } | Right> {
  const answer = await review(exchange, SUBJECT, {}, options);
  if (answer.kind !== 'reviewed') return answer;
  const userInfo = objectMember(answer.status, 'userInfo');
  const user = member(userInfo, 'username');
  const groups = member(userInfo, 'groups') ?? [];
  if (typeof user !== 'string' || user === '' || !Array.isArray(groups)) return { kind: 'denied' };
  return { kind: 'named', user, groups: groups.map(String) };
}

interface ReviewKind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly resource: string;
}

const ACCESS: ReviewKind = {
  kind: 'SelfSubjectAccessReview',
  apiVersion: 'authorization.k8s.io/v1',
  resource: 'selfsubjectaccessreviews',
};
const SUBJECT: ReviewKind = {
  kind: 'SelfSubjectReview',
  apiVersion: 'authentication.k8s.io/v1',
  resource: 'selfsubjectreviews',
};

async function review(
  exchange: Exchange,
  { kind, apiVersion, resource }: ReviewKind,
  object: object,
  { judge, clock }: CallerRightsOptions,
): Promise<{ readonly kind: 'reviewed'; readonly status: JsonObject } | Right> {
  const body = Buffer.from(JSON.stringify({ kind, apiVersion, ...object }));
  const headers = [
    ...['Content-Type', 'application/json', 'Accept', 'application/json'],
    ...['Content-Length', String(body.byteLength)],
  ];
  const target = `/apis/${apiVersion}/${resource}`;
  const question = onBehalfOf(exchange, { method: 'POST', target, headers, body, nowMs: clock.nowMs() });
  const deadline = new Deadline(clock, REVIEW_MS_MAX, 'the API server');
  deadline.onAbort(() => question.abort());
  const stopListening = exchange.onAbort(() => question.abort());
  try {
    const reply = await deadline.reply(judge(question));
    const text = await deadline.race(readBody(reply.body, REVIEW_BYTES_MAX));
    if (reply.status === 401) throw new StatusError('Unauthorized', 'Unauthorized');
    if (reply.status === 429 || reply.status >= 500) return unanswered(`it answered ${reply.status}`);
    if (reply.status !== 201) return { kind: 'denied' };
    return { kind: 'reviewed', status: objectMember(parsedObject(text.toString()), 'status') };
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 401) throw error;
    return unanswered(error instanceof Error ? error.message : String(error));
  } finally {
    stopListening();
    deadline.end();
  }
}

function unanswered(why: string): Unanswered {
  return { kind: 'unanswered', why };
}

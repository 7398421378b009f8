import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { readBody } from '../../http/body-stream.js';
import { identifiesCaller } from '../../http/caller-headers.js';
import { Deadline } from '../../http/deadline.js';
import { drain } from '../../http/discard.js';
import type { ClientConnection, Exchange, Handler, Reply } from '../../http/exchange.js';
import { headerValue, type RawHeaders } from '../../http/headers.js';
import type { Identity } from '../../http/identity.js';
import { AGGREGATED_V2BETA1, NO_PEER_VIEW } from '../../kube/accept.js';
import { StatusError } from '../../kube/status-error.js';
import { onBehalfOf } from './on-behalf-of.js';

export interface PermissionLimits {
  /** Cache lifetime of a permission; a revoked right works no longer than that. */
  readonly allowedForMs: number;
  readonly callersMax: number;
  readonly judgeTimeoutMs: number;
}

export const PERMISSION_LIMITS: PermissionLimits = {
  allowedForMs: 10_000,
  callersMax: 4_096,
  judgeTimeoutMs: 10_000,
};

/** Resolves with undefined if the caller may read the path, else with the API server's refusal. */
export type AuthorizeDocument = (exchange: Exchange, judge: Handler, path: string) => Promise<Reply | undefined>;

const REFUSAL_BYTES_MAX = 64 * 1024;
/** Bound on a document that is drained to keep its connection. */
const DISCARDED_BYTES_MAX = 8 * 1024 * 1024;
/** Bound on remembered ETags; other paths are requested unconditionally. */
const ETAGS_MAX = 64;

const NO_DOCUMENT = 'application/x-straddle-none';

/**
 * Makes a function that asks the API server whether a caller may read a merged document: by a
 * request for the same path in the caller's name. Only permissions are cached, for a short time.
 * Concurrent calls for one caller share one request.
 */
export function permission(clock: Clock, limits: PermissionLimits = PERMISSION_LIMITS): AuthorizeDocument {
  /** Expiry of each permission, oldest first. */
  const allowedUntilMs = new Map<string, number>();
  const asking = new Map<string, Promise<Reply | undefined>>();
  const etags = new Map<string, string>();

  async function ask(exchange: Exchange, judge: Handler, path: string): Promise<Reply | undefined> {
    const question = onBehalfOf(exchange, {
      target: path,
      headers: smallestAnswer(path, etags.get(path)),
      nowMs: clock.nowMs(),
    });
    const late = () => new StatusError('ServiceUnavailable', cannotJudge(path, 'it did not answer in time'));
    // Covers the body too: requests of the same caller wait for this one.
    const deadline = new Deadline(clock, limits.judgeTimeoutMs, late);
    deadline.onAbort(() => question.abort());
    try {
      const reply = await deadline.reply(judge(question));
      return await deadline.race(refusalIn(reply, path));
    } catch (error) {
      if (error instanceof StatusError) throw error;
      throw new StatusError(
        'ServiceUnavailable',
        cannotJudge(path, error instanceof Error ? error.message : 'it failed'),
      );
    } finally {
      deadline.end();
    }
  }

  /** Reads a reply to its end; resolves with undefined if it permits the document. */
  async function refusalIn(reply: Reply, path: string): Promise<Reply | undefined> {
    if (reply.status < 400 || reply.status === 404 || reply.status === 406) {
      const etag = headerValue(reply.headers, 'etag');
      if (etag && (etags.has(path) || etags.size < ETAGS_MAX)) etags.set(path, etag);
      await drain(reply, DISCARDED_BYTES_MAX);
      return undefined;
    }
    const body = await readBody(reply.body, REFUSAL_BYTES_MAX);
    if (reply.status >= 500)
      throw new StatusError('ServiceUnavailable', cannotJudge(path, `it answered ${reply.status}`));
    return { status: reply.status, headers: reply.headers, body };
  }

  return async (exchange, judge, path) => {
    const key = `${exchange.method} ${path} ${callerKey(exchange)}`;
    const until = allowedUntilMs.get(key);
    if (until !== undefined && clock.nowMs() < until) return undefined;

    let answer = asking.get(key);
    if (!answer) {
      answer = ask(exchange, judge, path).finally(() => asking.delete(key));
      asking.set(key, answer);
    }
    const refusal = await answer;
    allowedUntilMs.delete(key);
    if (!refusal) {
      allowedUntilMs.set(key, clock.nowMs() + limits.allowedForMs);
      if (allowedUntilMs.size > limits.callersMax) allowedUntilMs.delete(allowedUntilMs.keys().next().value!);
    }
    return refusal;
  };
}

/** Returns headers for the smallest reply. */
function smallestAnswer(path: string, etag: string | undefined): RawHeaders {
  // Making OpenAPI takes seconds with thousands of CRDs. An unknown type is refused with 406 before that, and after
  // authorization; the index has one type only, and an ETag.
  if (path.startsWith('/openapi/')) return ['Accept', NO_DOCUMENT, 'If-None-Match', '*'];
  if (path !== '/api' && path !== '/apis') return ['Accept', 'application/json'];
  const accept = `${NO_PEER_VIEW},${AGGREGATED_V2BETA1};q=0.9,application/json;q=0.8`;
  return ['Accept', accept, ...(etag ? ['If-None-Match', etag] : [])];
}

interface KnownCaller {
  readonly identity: Identity;
  readonly carried: readonly string[];
  readonly key: string;
}

/** The last caller of each connection, mostly the only one: comparing is cheaper than hashing. */
const lastCallers = new WeakMap<ClientConnection, KnownCaller>();

/** Returns a key of everything by which the API server could distinguish callers. */
function callerKey({ identity, headers, connection }: Exchange): string {
  const carried: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (identifiesCaller(name)) carried.push(name, headers[i + 1]!);
  }
  const last = lastCallers.get(connection);
  if (last && sameIdentity(last.identity, identity) && sameTexts(last.carried, carried)) return last.key;
  const who =
    identity.kind === 'established'
      ? [identity.user, identity.uid, identity.groups, [...identity.extra]]
      : [identity.flow === 'anonymous' ? 'anonymous' : 'carried'];
  const key = hash('sha256', JSON.stringify([identity.kind, who, carried]), 'base64');
  lastCallers.set(connection, { identity, carried, key });
  return key;
}

/** A connection's certificate is one identity object; others are compared by fields. */
function sameIdentity(a: Identity, b: Identity): boolean {
  return a === b || (a.kind === 'carried' && b.kind === 'carried' && a.flow === b.flow);
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

function cannotJudge(path: string, why: string): string {
  return `no API server can say now whether ${path} may be read: ${why}`;
}

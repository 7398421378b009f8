import { rawPath, rawQuery } from '../../base/target.js';
import { takesIdentity } from '../../http/accept-encoding.js';
import type { Exchange } from '../../http/exchange.js';
import { filterHeaders, headerValue, type RawHeaders } from '../../http/headers.js';

/**
 * What a watch begins with:
 * - nothing: every event continues from the request's resourceVersion;
 * - state: what exists, as ADDED events in no order, then changes;
 * - marked-state: the same, with a bookmark that says where the state ends, for which the client waits;
 * - now: changes only, from a moment that the server chose.
 */
export type WatchBeginning = 'nothing' | 'state' | 'marked-state' | 'now';

export interface WatchRequest {
  readonly beginning: WatchBeginning;
  /** Undefined where the server chooses. */
  readonly timeoutSeconds: number | undefined;
}

/** Undefined where the parameters are such that servers may read them differently than this does. */
export function readWatchRequest(target: string): WatchRequest | undefined {
  const values = new Map<string, string>();
  for (const pair of splitQuery(target)) {
    if (!DECIDING.has(pair.name)) continue;
    if (pair.value === undefined || values.has(pair.name)) return undefined;
    values.set(pair.name, pair.value);
  }
  const resourceVersion = values.get('resourceVersion') ?? '';
  const timeout = values.get('timeoutSeconds') ?? '';
  if (!/^\d{0,20}$/.test(resourceVersion) || !/^\d{0,9}$/.test(timeout)) return undefined;
  return {
    beginning: beginningOf(resourceVersion, values.get('sendInitialEvents')),
    timeoutSeconds: Number(timeout) > 0 ? Number(timeout) : undefined,
  };
}

function beginningOf(resourceVersion: string, sendInitialEvents: string | undefined): WatchBeginning {
  const fromOne = resourceVersion !== '' && !/^0+$/.test(resourceVersion);
  if (sendInitialEvents === undefined) return fromOne ? 'nothing' : 'state';
  // Kubernetes: only these two are false, an empty value is true.
  if (sendInitialEvents !== '0' && sendInitialEvents.toLowerCase() !== 'false') return 'marked-state';
  return fromOne ? 'nothing' : 'now';
}

export interface TakeUp {
  /** Undefined to ask for the same as before. */
  readonly resourceVersion: string | undefined;
  readonly timeoutSeconds: number | undefined;
}

/** The request for the rest of a watch: what does not have to change stays as it was written. */
export function takeUpTarget(target: string, { resourceVersion, timeoutSeconds }: TakeUp): string {
  const path = rawPath(target);
  const parts: string[] = [];
  let placed = resourceVersion === undefined;
  for (const { raw, name } of splitQuery(target)) {
    if (name === 'timeoutSeconds' && timeoutSeconds !== undefined) parts.push(`timeoutSeconds=${timeoutSeconds}`);
    else if (resourceVersion === undefined) parts.push(raw);
    else if (name === 'resourceVersion') {
      parts.push(`resourceVersion=${encodeURIComponent(resourceVersion)}`);
      placed = true;
    } else if (name !== 'resourceVersionMatch' && name !== 'sendInitialEvents') parts.push(raw);
  }
  if (!placed) parts.push(`resourceVersion=${encodeURIComponent(resourceVersion!)}`);
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}

const DECIDING: ReadonlySet<string> = new Set([
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
]);

interface QueryPair {
  readonly raw: string;
  readonly name: string;
  /** Undefined if it cannot be decoded. */
  readonly value: string | undefined;
}

function splitQuery(target: string): QueryPair[] {
  const query = rawQuery(target);
  if (query === '') return [];
  return query.split('&').map((raw) => {
    const equals = raw.indexOf('=');
    const name = decodeQuery(equals < 0 ? raw : raw.slice(0, equals)) ?? '';
    return { raw, name, value: equals < 0 ? '' : decodeQuery(raw.slice(equals + 1)) };
  });
}

function decodeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Returns whether the rest of a watch can be requested from another server: see `readWatchRequest`. */
export function isContinuable({ info, method, body, upgrade, target }: Exchange): boolean {
  if (info.verb !== 'watch' || method !== 'GET' || body !== null || upgrade) return false;
  return readWatchRequest(target) !== undefined;
}

/**
 * Returns the header fields with which a server sends a watch uncompressed; the same array if it would anyway.
 *
 * The events of a compressed stream are found only by decompressing a second copy of it: CPU time for each byte, and some
 * 40 KiB for each watch. And the stream of another server would have to be compressed again to fit. kube-apiserver
 * compresses few watches (1.37 those with `sendInitialEvents`). Without compression such a watch has several times the bytes,
 * between the servers and to the client: 19 times for 1,000 pods of one template, in JSON of 7.8 kB each.
 */
export function withoutCompression(headers: RawHeaders): RawHeaders {
  const accepted = headerValue(headers, 'accept-encoding');
  if (accepted === undefined || accepted === 'identity' || !takesIdentity(headers)) return headers;
  return [...filterHeaders(headers, (name) => name !== 'accept-encoding'), 'Accept-Encoding', 'identity'];
}

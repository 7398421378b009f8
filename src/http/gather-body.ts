import { StatusError } from '../kube/status-error.js';
import type { Exchange } from './exchange.js';
import { headerValue } from './headers.js';

/** Bound on a request body that is held in memory; most writes to an API server are far smaller. */
export const GATHERED_BYTES_MAX = 64 * 1024;
/** Memory that a request is charged at least while it waits for its body. */
export const BODY_WAIT_BYTES_MIN = 8 * 1024;
/** Timeout of a client that sends a small body. */
export const GATHER_MS_MAX = 30_000;

/**
 * Reads a small body of announced length before the request is sent on. It can then be sent again
 * when a server is shutting down, and is sent in one write. Larger bodies, those of unknown length,
 * and those of callers whose share of memory is used up are streamed. The request holds no place in
 * flight while it waits for its client.
 */
export async function gatherSmallBody(exchange: Exchange): Promise<void> {
  const { body, holding } = exchange;
  if (!body || exchange.gatheredBody || exchange.bodyTouched || exchange.upgrade) return;
  const lengthBytes = Number(headerValue(exchange.headers, 'content-length'));
  if (!(lengthBytes >= 0 && lengthBytes <= GATHERED_BYTES_MAX)) return;
  if (holding && !holding.tryReserve(Math.max(lengthBytes, BODY_WAIT_BYTES_MIN))) return;
  const whole = readWholeBody(exchange, { bytesMax: GATHERED_BYTES_MAX, timeoutMs: GATHER_MS_MAX });
  exchange.gatheredBody = await (holding ? holding.awaitClient(whole) : whole);
}

/**
 * Reads a request body into memory. Rejects with StatusError (Timeout, RequestEntityTooLarge), or
 * with Error after an abort.
 */
export function readWholeBody(
  exchange: Exchange,
  { bytesMax, timeoutMs }: { readonly bytesMax: number; readonly timeoutMs: number },
): Promise<Buffer> {
  const body = exchange.body!;
  if (exchange.aborted) return Promise.reject(new Error('the client left'));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (): void => {
      clearTimeout(timer);
      stopListening();
      body.off('data', take).off('end', finish).off('error', fail);
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    const late = `the body of the request did not arrive within ${timeoutMs / 1000} s`;
    const timer = setTimeout(() => fail(new StatusError('Timeout', late)), timeoutMs);
    timer.unref();
    const stopListening = exchange.onAbort(() => fail(new Error('the client left')));
    const take = (chunk: Buffer): void => {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) {
        body.resume();
        fail(new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${bytesMax}`));
      } else chunks.push(chunk);
    };
    const finish = (): void => {
      stop();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
    };
    body.on('data', take).on('end', finish).on('error', fail);
  });
}

/** Returns the body for one attempt; a stream can be returned only once. */
export function takeBody(exchange: Exchange): Exchange['body'] | Uint8Array {
  if (exchange.gatheredBody) return exchange.gatheredBody;
  if (exchange.body) exchange.bodyTouched = true;
  return exchange.body;
}

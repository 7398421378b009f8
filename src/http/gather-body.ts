import { StatusError } from '../kube/status-error.js';
import type { Exchange } from './exchange.js';
import { headerValue } from './headers.js';

/** Up to this much of a request is held in memory; most writes to an API server are far smaller. */
export const GATHERED_BYTES_MAX = 64 * 1024;
/** A request costs at least this much memory while it waits for its body. */
export const BODY_WAIT_BYTES_MIN = 8 * 1024;
/** A client that takes longer than this for so little is given up. */
export const GATHER_MS_MAX = 30_000;

/**
 * Reads a small body whose length is announced before the request is sent on. It can then be sent again when a server
 * turns out to be going away, and goes out in one write. Larger bodies, those of unknown length, and those of callers
 * whose share of memory is used up stream. The request holds no place in flight while its client is waited for.
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

/** Reads a request's body into memory. Rejects with StatusError (Timeout, RequestEntityTooLarge). */
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

/** What to send as the body of one attempt; a stream can be handed out once only. */
export function takeBody(exchange: Exchange): Exchange['body'] | Uint8Array {
  if (exchange.gatheredBody) return exchange.gatheredBody;
  if (exchange.body) exchange.bodyTouched = true;
  return exchange.body;
}

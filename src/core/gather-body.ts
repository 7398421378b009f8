import type { Exchange } from './exchange.js';
import { headerValue } from './headers.js';
import { StatusError } from './status-error.js';

/** Up to this much of a request is held in memory; most writes to an API server are far smaller. */
export const GATHERED_BYTES_MAX = 64 * 1024;
/** A client that takes longer than this for so little holds a place that others wait for. */
const GATHER_MS_MAX = 30_000;

/**
 * Reads a small body whose length is announced before the request is sent on. It can then be sent again when a server
 * turns out to be going away, and goes out in one write. Larger bodies, and those of unknown length, stream.
 */
export async function gatherSmallBody(exchange: Exchange): Promise<void> {
  const { body } = exchange;
  if (!body || exchange.gatheredBody || exchange.bodyTouched || exchange.upgrade) return;
  const lengthBytes = Number(headerValue(exchange.headers, 'content-length'));
  if (!(lengthBytes >= 0 && lengthBytes <= GATHERED_BYTES_MAX)) return;
  exchange.gatheredBody = await new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => {
      stop();
      reject(new StatusError('Timeout', `the request's body did not arrive within ${GATHER_MS_MAX / 1000} s`));
    }, GATHER_MS_MAX);
    timer.unref();
    const stopListening = exchange.onAbort(() => {
      clearTimeout(timer);
      reject(new Error('the client left'));
    });
    const stop = () => {
      clearTimeout(timer);
      stopListening();
    };
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      chunks.push(chunk);
    });
    body.once('end', () => {
      stop();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
    });
    body.once('error', (error) => {
      stop();
      reject(error);
    });
  });
}

/** What to send as the body of one attempt; a stream can be handed out once only. */
export function takeBody(exchange: Exchange): Exchange['body'] | Uint8Array {
  if (exchange.gatheredBody) return exchange.gatheredBody;
  if (exchange.body) exchange.bodyTouched = true;
  return exchange.body;
}

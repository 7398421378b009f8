import type { Exchange } from '../../core/exchange.js';
import { StatusError } from '../../core/status-error.js';

/** As in kube-apiserver. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;
const BODY_MS_MAX = 60_000;

/** The whole body of a request. More than kube-apiserver takes is refused, and the rest is not read. */
export function readRequestBody(exchange: Exchange): Promise<Buffer> {
  const { gatheredBody, body } = exchange;
  if (gatheredBody)
    return Promise.resolve(Buffer.from(gatheredBody.buffer, gatheredBody.byteOffset, gatheredBody.byteLength));
  if (!body) return Promise.resolve(Buffer.alloc(0));
  exchange.bodyTouched = true;
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
    const timer = setTimeout(
      () => fail(new StatusError('Timeout', 'the body of the request did not arrive in time')),
      BODY_MS_MAX,
    );
    timer.unref();
    const stopListening = exchange.onAbort(() => fail(new Error('the client left')));
    const take = (chunk: Buffer): void => {
      bytes += chunk.byteLength;
      if (bytes > BODY_BYTES_MAX) {
        body.resume();
        fail(new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${BODY_BYTES_MAX}`));
      } else chunks.push(chunk);
    };
    const finish = (): void => {
      stop();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
    };
    body.on('data', take).on('end', finish).on('error', fail);
  });
}

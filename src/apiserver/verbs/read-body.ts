import { hasMoreValues } from '../../api/json-text.js';
import type { Exchange } from '../../core/exchange.js';
import { headerValue } from '../../core/headers.js';
import { StatusError } from '../../core/status-error.js';
import { BODY_BYTES_MAX, BODY_VALUES_MAX } from '../size-bounds.js';
import { withoutLongYaml } from '../yaml/long-yaml.js';

const BODY_MS_MAX = 60_000;

/** Shorter bodies cannot have too many values, and are YAML that is quickly read. */
const SHORT_BYTES_MAX = 16 * 1024;

/**
 * The whole body of a request. More than kube-apiserver takes is refused, and the rest is not read; so is a body of too many
 * values. Long YAML is returned as JSON, which is YAML as well.
 */
export async function readRequestBody(exchange: Exchange): Promise<Buffer> {
  const sent = await gatherBody(exchange);
  if (sent.byteLength <= SHORT_BYTES_MAX) return sent;
  const contentType = headerValue(exchange.headers, 'content-type') ?? '';
  if (contentType.includes('protobuf')) return sent;
  const body = contentType.includes('yaml') ? await withoutLongYaml(sent) : sent;
  // Nothing but ASCII counts, and no byte of another character looks like it.
  if (!hasMoreValues(body.toString('latin1'), BODY_VALUES_MAX)) return body;
  const message = `Request entity too large: limit is ${BODY_VALUES_MAX} values`;
  throw new StatusError('RequestEntityTooLarge', message);
}

function gatherBody(exchange: Exchange): Promise<Buffer> {
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

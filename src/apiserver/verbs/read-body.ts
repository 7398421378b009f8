import type { Exchange } from '../../core/exchange.js';
import { BODY_WAIT_BYTES_MIN, readWholeBody } from '../../core/gather-body.js';
import { headerValue } from '../../core/headers.js';

/** As in kube-apiserver. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;
const BODY_MS_MAX = 60_000;

/**
 * Reads the whole body of a request, kept so that the request can be sent elsewhere. Throws StatusError
 * (RequestEntityTooLarge) for more than kube-apiserver takes, and does not read the rest.
 */
export async function readRequestBody(exchange: Exchange): Promise<Buffer> {
  const { gatheredBody, body, holding } = exchange;
  if (gatheredBody) return Buffer.from(gatheredBody.buffer, gatheredBody.byteOffset, gatheredBody.byteLength);
  if (!body) return Buffer.alloc(0);
  const announcedBytes = Number(headerValue(exchange.headers, 'content-length') ?? BODY_BYTES_MAX);
  await holding?.reserve(Math.max(BODY_WAIT_BYTES_MIN, Math.min(announcedBytes, BODY_BYTES_MAX)));
  exchange.bodyTouched = true;
  const whole = readWholeBody(exchange, { bytesMax: BODY_BYTES_MAX, timeoutMs: BODY_MS_MAX });
  const bytes = await (holding ? holding.awaitClient(whole) : whole);
  exchange.gatheredBody = bytes;
  return bytes;
}

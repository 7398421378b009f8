import type { Exchange } from '../../http/exchange.js';
import { BODY_WAIT_BYTES_MIN, readWholeBody } from '../../http/gather-body.js';
import { headerValue } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import { BODY_BYTES_MAX, BODY_VALUES_MAX } from '../contracts/size-bounds.js';
import { hasMoreValues } from '../values/json-text.js';
import { withoutLongYaml } from '../yaml/long-yaml.js';

const BODY_MS_MAX = 60_000;

/** Shorter bodies cannot have too many values, and their YAML is parsed without a thread. */
const SHORT_BYTES_MAX = 16 * 1024;

/**
 * Reads the whole body of a request. Throws StatusError (RequestEntityTooLarge) for more bytes than
 * kube-apiserver accepts, whose rest is not read, and for too many values. Long YAML is returned as JSON,
 * which is YAML as well.
 */
export async function readRequestBody(exchange: Exchange): Promise<Buffer> {
  const sent = await gatherBody(exchange);
  if (sent.byteLength <= SHORT_BYTES_MAX) return sent;
  const contentType = headerValue(exchange.headers, 'content-type') ?? '';
  if (contentType.includes('protobuf')) return sent;
  const body = contentType.includes('yaml') ? await withoutLongYaml(sent) : sent;
  // Only ASCII characters are counted, and UTF-8 has no ASCII bytes in other characters.
  if (!hasMoreValues(body.toString('latin1'), BODY_VALUES_MAX)) return body;
  const message = `Request entity too large: limit is ${BODY_VALUES_MAX} values`;
  throw new StatusError('RequestEntityTooLarge', message);
}

/** Reads the body and keeps it with the exchange, so that the request can be sent to a peer. */
async function gatherBody(exchange: Exchange): Promise<Buffer> {
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

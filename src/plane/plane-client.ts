import { readBody } from '../http/body-stream.js';
import type { RawHeaders } from '../http/headers.js';
import type { Destination } from '../http/outgoing.js';
import { isObject, type JsonObject } from '../kube/json.js';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** Through the front-proxy certificate, which every server of the control plane believes. */
const AS_ADMIN = ['X-Remote-User', 'kubernetes-admin', 'X-Remote-Group', 'system:masters'];

export interface PlaneAnswer {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: JsonObject;
}

/** One request to one server as the admin. Rejects when there is no answer in time. */
export async function askServer(
  destination: Destination,
  method: string,
  target: string,
  { body, accept = 'application/json' }: { readonly body?: JsonObject; readonly accept?: string } = {},
): Promise<PlaneAnswer> {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  let abort: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${destination.address}: no answer to ${method} ${target} within ${TIMEOUT_MS / 1000} s`));
      abort();
    }, TIMEOUT_MS);
  });
  const asked = destination.send({
    method,
    target,
    headers: [
      ...['Host', destination.address, 'User-Agent', 'straddle', 'Accept', accept, ...AS_ADMIN],
      ...(bytes ? ['Content-Type', 'application/json', 'Content-Length', String(bytes.byteLength)] : []),
    ],
    body: bytes,
    lane: 'front-proxy',
    headTimeoutMs: 0,
    onAbort: (listener) => {
      abort = listener;
      return () => {};
    },
  });
  try {
    const { status, headers, body: stream } = await Promise.race([asked, late]);
    const text = (await Promise.race([readBody(stream, ANSWER_BYTES_MAX), late])).toString('utf8');
    return { status, headers, body: parse(text) };
  } finally {
    clearTimeout(timer);
    asked.catch(() => {});
  }
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

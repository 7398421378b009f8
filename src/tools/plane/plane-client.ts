import { systemClock } from '../../base/clock.js';
import type { RawHeaders } from '../../http/headers.js';
import type { Destination } from '../../http/outgoing.js';
import { sendTo } from '../../http/send-to.js';
import { requestJson } from '../../kube/client/request-json.js';
import { type JsonObject, parsedObject } from '../../kube/json.js';

const LIMITS = { clock: systemClock, timeoutMs: 10_000, bytesMax: 16 * 1024 * 1024 };
/** Identity headers, believed because of the front-proxy certificate. */
const AS_ADMIN = ['X-Remote-User', 'kubernetes-admin', 'X-Remote-Group', 'system:masters'];

export interface PlaneAnswer {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: JsonObject;
}

export interface PlaneRequest {
  readonly body?: JsonObject;
  readonly accept?: string;
  /** Whether the server answers for itself only, and never reroutes. */
  readonly itself?: boolean;
}

/** Sends one request to one server as the admin. Rejects when there is no reply in time. */
export async function askServer(
  destination: Destination,
  method: string,
  target: string,
  { itself = false, ...options }: PlaneRequest = {},
): Promise<PlaneAnswer> {
  const caller = itself ? [...AS_ADMIN, 'x-kubernetes-peer-proxied', 'true'] : AS_ADMIN;
  const send = sendTo(destination, 'front-proxy', () => caller);
  const work = `${destination.address}: ${method} ${target}`;
  const { status, headers, body } = await requestJson(send, { method, target, ...options }, LIMITS, work);
  return { status, headers, body: parsedObject(body.toString('utf8')) };
}

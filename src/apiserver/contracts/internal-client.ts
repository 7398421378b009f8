import type { Clock } from '../../base/clock.js';
import type { Handler } from '../../http/exchange.js';
import type { EstablishedIdentity } from '../../http/identity.js';
import type { Send } from '../../http/outgoing.js';
import { sendInProcess } from '../../http/send-to.js';
import type { WholeReplyLimits } from '../../http/whole-reply.js';
import type { ApiAnswer } from '../../kube/client/api-client.js';
import { requestJson } from '../../kube/client/request-json.js';
import { type JsonObject, parsedObject } from '../../kube/json.js';
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from './user.js';

/** kube-apiserver's default `--request-timeout`. */
const REQUEST_TIMEOUT_MS = 60_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

const SELF: EstablishedIdentity = {
  kind: 'established',
  user: 'system:apiserver',
  uid: '',
  groups: [MASTERS_GROUP, AUTHENTICATED_GROUP],
  extra: new Map(),
};

/** Sends requests of the server to itself, through the same verbs and admission. */
export class InternalClient {
  /** Sends a request and returns the reply unread. */
  readonly send: Send;
  readonly #limits: WholeReplyLimits;

  constructor(handle: Handler, clock: Clock) {
    const headers = ['User-Agent', 'kube-apiserver'];
    this.send = sendInProcess({ handler: () => handle, nowMs: () => clock.nowMs(), identity: SELF, headers });
    this.#limits = { clock, timeoutMs: REQUEST_TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX };
  }

  /** Resolves with any status. Rejects after a timeout. */
  async request(
    method: string,
    target: string,
    object?: JsonObject,
    contentType = 'application/json',
  ): Promise<ApiAnswer> {
    const { status, body } = await requestJson(this.send, { method, target, body: object, contentType }, this.#limits);
    return { status, body: parsedObject(body.toString()) };
  }
}

import { readBody } from '../../http/body-stream.js';
import type { Handler, Reply } from '../../http/exchange.js';
import type { EstablishedIdentity } from '../../http/identity.js';
import type { OnAbort } from '../../http/on-abort.js';
import type { Send } from '../../http/outgoing.js';
import { sendInProcess } from '../../http/send-to.js';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { MASTERS_GROUP } from './user.js';

export interface InternalAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const NEVER: OnAbort = () => () => {};

const SELF: EstablishedIdentity = {
  kind: 'established',
  user: 'system:apiserver',
  uid: '',
  groups: [MASTERS_GROUP, 'system:authenticated'],
  extra: new Map(),
};

/** The server's own requests to itself, through the same verbs and admission as everyone's. */
export class InternalClient {
  readonly #send: Send;

  constructor(handle: Handler, nowMs: () => number) {
    const headers = ['User-Agent', 'kube-apiserver'];
    this.#send = sendInProcess({ handler: () => handle, nowMs, identity: SELF, headers });
  }

  /** A refusal is an answer like any other here; only what went wrong otherwise rejects. */
  async request(
    method: string,
    target: string,
    body?: JsonObject,
    contentType = 'application/json',
  ): Promise<InternalAnswer> {
    try {
      const reply = await this.send(method, target, ['Accept', 'application/json', 'Content-Type', contentType], body);
      const bytes = await readBody(reply.body, ANSWER_BYTES_MAX);
      return { status: reply.status, body: JSON.parse(bytes.toString('utf8')) as JsonObject };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { status: error.status.code, body: error.status as unknown as JsonObject };
    }
  }

  /** Sends a request and returns the reply unread. */
  send(
    method: string,
    target: string,
    headers: readonly string[],
    body?: JsonObject,
    onAbort: OnAbort = NEVER,
  ): Promise<Reply> {
    const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
    return this.#send(method, target, headers, bytes, onAbort);
  }
}

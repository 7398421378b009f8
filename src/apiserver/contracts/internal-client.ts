import { readBody } from '../../http/body-stream.js';
import { Exchange, type Handler, type Reply } from '../../http/exchange.js';
import type { EstablishedIdentity } from '../../http/identity.js';
import type { JsonObject } from '../../kube/json.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';
import { MASTERS_GROUP } from './user.js';

export interface InternalAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

const SELF: EstablishedIdentity = {
  kind: 'established',
  user: 'system:apiserver',
  uid: '',
  groups: [MASTERS_GROUP, 'system:authenticated'],
  extra: new Map(),
};

/** The server's own requests to itself, through the same verbs and admission as everyone's. */
export class InternalClient {
  readonly #handle: Handler;
  readonly #nowMs: () => number;

  constructor(handle: Handler, nowMs: () => number) {
    this.#handle = handle;
    this.#nowMs = nowMs;
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

  /** As it is; `onAbort` tells when the answer is no longer wanted. */
  send(
    method: string,
    target: string,
    headers: readonly string[],
    body?: JsonObject,
    onAbort?: (listener: () => void) => () => void,
  ): Promise<Reply> {
    const agent = ['User-Agent', 'kube-apiserver', ...headers];
    const connection = { remoteAddress: '', certificateChain: [] };
    const exchange = new Exchange({ method, target, headers: agent, body: null, connection }, this.#nowMs());
    if (body !== undefined) exchange.gatheredBody = Buffer.from(JSON.stringify(body));
    exchange.info = parseRequestInfo(method, target)!;
    exchange.identity = SELF;
    onAbort?.(() => exchange.abort());
    return this.#handle(exchange);
  }
}

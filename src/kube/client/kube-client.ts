import type { Clock } from '../../base/clock.js';
import { readBody } from '../../http/body-stream.js';
import { Deadline, type OnAbort } from '../../http/deadline.js';
import type { Reply } from '../../http/exchange.js';
import type { RawHeaders } from '../../http/headers.js';
import { KubeError } from './kube-error.js';

/** Sends one request, already authenticated. `onAbort` calls back when the answer is no longer wanted. */
export type KubeSend = (
  method: string,
  target: string,
  headers: RawHeaders,
  body: Uint8Array | null,
  onAbort: OnAbort,
) => Promise<Reply>;

export interface KubeClientOptions {
  readonly send: KubeSend;
  readonly clock: Clock;
  /** For one whole request that is not a watch. */
  readonly timeoutMs?: number;
  readonly bodyBytesMax?: number;
  /** One event of a watch. An object of Kubernetes is at most about 1.5 MiB in etcd. */
  readonly eventBytesMax?: number;
  readonly random?: () => number;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface DeletePreconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

const JSON_HEADERS = ['accept', 'application/json', 'accept-encoding', 'identity'];

/** The little that Straddle itself needs of the Kubernetes API: JSON objects by path. Every failure is a KubeError. */
export class KubeClient {
  readonly options: Required<KubeClientOptions>;

  constructor(options: KubeClientOptions) {
    this.options = {
      timeoutMs: 5_000,
      bodyBytesMax: 16 * 1024 * 1024,
      eventBytesMax: 4 * 1024 * 1024,
      random: Math.random,
      ...options,
    };
  }

  get<T extends KubeObject>(path: string): Promise<T> {
    return this.#request('GET', path, null) as Promise<T>;
  }

  async list<T extends KubeObject>(target: string): Promise<{ items: T[]; resourceVersion: string }> {
    const list = (await this.#request('GET', target, null)) as { items?: unknown; metadata?: ObjectMeta };
    if (list.items !== null && list.items !== undefined && !Array.isArray(list.items)) {
      throw new KubeError({ method: 'GET', target }, 200, '', 'the answer is not a list');
    }
    const items = ((list.items ?? []) as unknown[]).filter(isKubeObject) as T[];
    return { items, resourceVersion: list.metadata?.resourceVersion ?? '' };
  }

  create<T extends KubeObject>(path: string, object: T): Promise<T> {
    return this.#request('POST', path, object) as Promise<T>;
  }

  update<T extends KubeObject>(path: string, object: T): Promise<T> {
    return this.#request('PUT', path, object) as Promise<T>;
  }

  async delete(path: string, preconditions?: DeletePreconditions): Promise<void> {
    const options = preconditions && { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
    await this.#request('DELETE', path, options ?? null);
  }

  async #request(method: string, target: string, object: unknown): Promise<object> {
    const deadline = new Deadline(this.options.clock, this.options.timeoutMs, `${method} ${target}`);
    try {
      const body = object === null ? null : Buffer.from(JSON.stringify(object));
      const headers = body
        ? [...JSON_HEADERS, 'content-type', 'application/json', 'content-length', String(body.byteLength)]
        : JSON_HEADERS;
      const reply = await deadline.reply(this.options.send(method, target, headers, body, deadline.onAbort));
      const bytes = await deadline.race(readBody(reply.body, this.options.bodyBytesMax));
      if (reply.status < 200 || reply.status > 299) throw kubeError(method, target, reply.status, bytes);
      return parseObject(method, target, reply.status, bytes);
    } finally {
      deadline.end();
    }
  }
}

export function isKubeObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && typeof (value as KubeObject).metadata === 'object';
}

function parseObject(method: string, target: string, code: number, bytes: Buffer): object {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new KubeError({ method, target }, code, '', 'the answer is not JSON');
  }
  if (typeof value !== 'object' || value === null) {
    throw new KubeError({ method, target }, code, '', 'the answer is not an object');
  }
  return value;
}

const MESSAGE_CHARS_MAX = 300;

export function kubeError(method: string, target: string, code: number, bytes: Buffer): KubeError {
  let reason = '';
  let message = '';
  try {
    const status = JSON.parse(bytes.toString('utf8')) as { reason?: unknown; message?: unknown } | null;
    if (typeof status?.reason === 'string') reason = status.reason.slice(0, 64);
    if (typeof status?.message === 'string') message = status.message;
  } catch {
    message = bytes.toString('utf8', 0, MESSAGE_CHARS_MAX);
  }
  const line = message.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return new KubeError({ method, target }, code, reason, line.slice(0, MESSAGE_CHARS_MAX));
}

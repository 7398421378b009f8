import type { Clock } from '../../base/clock.js';
import type { Send } from '../../http/outgoing.js';
import { KubeError } from './kube-error.js';
import { requestJson } from './request-json.js';

export interface KubeClientOptions {
  readonly send: Send;
  readonly clock: Clock;
  /** Timeout of one whole request that is not a watch. */
  readonly timeoutMs?: number;
  readonly bodyBytesMax?: number;
  /** Bound on one watch event. An object of Kubernetes is at most about 1.5 MiB in etcd. */
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

/**
 * Client for requests that Straddle itself makes: JSON objects by path. Rejects with KubeError for an error status
 * or a malformed reply, with DeadlineError after a timeout, else with the error of `send`.
 */
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
    return this.#request('GET', path, undefined) as Promise<T>;
  }

  async list<T extends KubeObject>(target: string): Promise<{ items: T[]; resourceVersion: string }> {
    const list = (await this.#request('GET', target, undefined)) as { items?: unknown; metadata?: ObjectMeta };
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
    await this.#request('DELETE', path, options);
  }

  async #request(method: string, target: string, object: object | undefined): Promise<object> {
    const { send, clock, timeoutMs, bodyBytesMax } = this.options;
    const limits = { clock, timeoutMs, bytesMax: bodyBytesMax };
    const { status, body } = await requestJson(send, { method, target, body: object }, limits);
    if (status < 200 || status > 299) throw kubeError(method, target, status, body);
    return parseObject(method, target, status, body);
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

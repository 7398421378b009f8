import { Agent, request } from 'undici';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import type { ApiAccess } from './rehearsal-plane.js';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  readonly target: string;
  readonly body?: JsonObject;
  /** Of the body; JSON unless said otherwise. */
  readonly contentType?: string;
}

export interface ApiAnswer {
  readonly status: number;
  /** Empty where the answer was not a JSON object. */
  readonly body: JsonObject;
}

/** What the rehearsal's parts ask of the API behind one address. */
export interface Api {
  /** Rejects only where there was no answer. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  discover(view?: DiscoveryView): Promise<Discovered>;
}

/** `own`: what the server serves itself (`profile=nopeer`), whatever it knows of its peers. */
export type DiscoveryView = 'merged' | 'own';

export interface Discovered {
  readonly status: number;
  /** Empty where the status is not 200. The same array again for the same document. */
  readonly groups: readonly GroupDiscovery[];
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** How a watch came to its end; `status` is 0 where there was no answer. */
export type WatchEnd =
  | { readonly how: 'in order' }
  | { readonly how: 'cut'; readonly why: string }
  | { readonly how: 'refused'; readonly status: number; readonly why: string };

const TIMEOUT_MS = 15_000;
const BODY_BYTES_MAX = 32 * 1024 * 1024;
const LINE_BYTES_MAX = 4 * 1024 * 1024;
const CONNECTIONS_MAX = 16;
const DOCUMENTS_MAX = 16;
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const ACCEPT: Readonly<Record<DiscoveryView, string>> = {
  merged: `${AGGREGATED},application/json`,
  own: `${AGGREGATED};profile=nopeer,${AGGREGATED},application/json`,
};

/** A client with connections of its own to one address: the front door, or one server. */
export class ApiConnection implements Api {
  readonly #url: string;
  readonly #agent: Agent;
  /** Parsed documents by their ETag: a load looks at the same ones again and again. */
  readonly #documents = new Map<string, readonly GroupDiscovery[]>();

  constructor({ url, caPem, certPem, keyPem }: ApiAccess) {
    this.#url = url;
    this.#agent = new Agent({
      connect: { ca: caPem, cert: certPem, key: keyPem, timeout: TIMEOUT_MS },
      connections: CONNECTIONS_MAX,
    });
  }

  async request({ method, target, body, contentType = 'application/json' }: ApiRequest): Promise<ApiAnswer> {
    const { status, text } = await this.#send(method, target, {
      headers: { accept: 'application/json', ...(body ? { 'content-type': contentType } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status, body: objectOf(text) };
  }

  async discover(view: DiscoveryView = 'merged'): Promise<Discovered> {
    const found: GroupDiscovery[][] = [];
    for (const target of ['/api', '/apis']) {
      const { status, text, etag } = await this.#send('GET', target, { headers: { accept: ACCEPT[view] } });
      if (status !== 200) return { status, groups: [] };
      found.push(this.#parsed(`${target} ${etag}`, etag === '', text));
    }
    return { status: 200, groups: found.flat() };
  }

  /** Resolves when the watch is over, however that came about; `signal` ends it in order. */
  async watch(
    target: string,
    { signal, onOpen, onEvent }: { signal: AbortSignal; onOpen: () => void; onEvent: (event: WatchEvent) => void },
  ): Promise<WatchEnd> {
    try {
      const answer = await request(this.#url + target, {
        dispatcher: this.#agent,
        headers: { accept: 'application/json' },
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: 0,
        signal,
      });
      if (answer.statusCode !== 200) {
        const why = messageOf(objectOf(await boundedText(answer.body)));
        return { how: 'refused', status: answer.statusCode, why };
      }
      onOpen();
      for await (const event of eventsOf(answer.body)) onEvent(event);
      return { how: 'in order' };
    } catch (error) {
      return signal.aborted ? { how: 'in order' } : { how: 'cut', why: (error as Error).message };
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #send(
    method: ApiRequest['method'],
    target: string,
    { headers, body }: { readonly headers: Record<string, string>; readonly body?: string },
  ): Promise<{ status: number; text: string; etag: string }> {
    const answer = await request(this.#url + target, {
      dispatcher: this.#agent,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { etag } = answer.headers;
    return {
      status: answer.statusCode,
      text: await boundedText(answer.body),
      etag: typeof etag === 'string' ? etag : '',
    };
  }

  #parsed(key: string, isUnnamed: boolean, text: string): GroupDiscovery[] {
    const known = this.#documents.get(key);
    if (known && !isUnnamed) return known as GroupDiscovery[];
    const { items } = objectOf(text);
    if (!Array.isArray(items)) throw new Error(`${this.#url} answered discovery that is not aggregated`);
    const groups = items as unknown as GroupDiscovery[];
    if (this.#documents.size >= DOCUMENTS_MAX) this.#documents.clear();
    this.#documents.set(key, groups);
    return groups;
  }
}

/** What a Status says, or nothing. */
export function messageOf(body: JsonObject): string {
  const { message } = body;
  return typeof message === 'string' ? message : '';
}

export function isSuccess({ status }: ApiAnswer): boolean {
  return status >= 200 && status < 300;
}

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`an answer of more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function* eventsOf(body: AsyncIterable<Buffer>): AsyncGenerator<WatchEvent> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    if (rest.length > LINE_BYTES_MAX) throw new Error(`an event of more than ${LINE_BYTES_MAX} bytes`);
    for (const line of lines) {
      const { type, object } = objectOf(line);
      if (typeof type !== 'string' || !isObject(object)) throw new Error('an event of a watch is none');
      yield { type, object };
    }
  }
}

function objectOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

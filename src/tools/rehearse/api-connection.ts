import { AGGREGATED_V2, NO_PEER_VIEW } from '../../kube/accept.js';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { parseAggregated, parseDiscoveryJson } from '../../kube/discovery-documents.js';
import { isObject, type JsonObject, parsedObject } from '../../kube/json.js';
import { HttpsConnection } from '../https/https-connection.js';
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
const ACCEPT: Readonly<Record<DiscoveryView, string>> = {
  merged: `${AGGREGATED_V2},application/json`,
  own: `${NO_PEER_VIEW},${AGGREGATED_V2},application/json`,
};

/** Milliseconds to wait for a whole reply, or for the head of a watch. */
export interface ApiConnectionOptions {
  readonly timeoutMs?: number;
}

/** A client with connections of its own to one address: the front door, or one server. */
export class ApiConnection implements Api {
  readonly #connection: HttpsConnection;
  readonly #timeoutMs: number;
  /** Parsed documents by their ETag: a load looks at the same ones again and again. */
  readonly #documents = new Map<string, readonly GroupDiscovery[]>();

  constructor({ url, caPem, certPem, keyPem }: ApiAccess, { timeoutMs = TIMEOUT_MS }: ApiConnectionOptions = {}) {
    this.#timeoutMs = timeoutMs;
    this.#connection = new HttpsConnection({
      url,
      tls: { ca: caPem, cert: certPem, key: keyPem },
      socketsMax: CONNECTIONS_MAX,
      timeoutMs,
      bytesMax: BODY_BYTES_MAX,
    });
  }

  async request({ method, target, body, contentType = 'application/json' }: ApiRequest): Promise<ApiAnswer> {
    const headers = { accept: 'application/json', ...(body ? { 'content-type': contentType } : {}) };
    const sent = body && JSON.stringify(body);
    const { status, text } = await this.#connection.request({ method, target, headers, body: sent });
    return { status, body: parsedObject(text) };
  }

  async discover(view: DiscoveryView = 'merged'): Promise<Discovered> {
    const found: (readonly GroupDiscovery[])[] = [];
    for (const target of ['/api', '/apis']) {
      const headers = { accept: ACCEPT[view] };
      const reply = await this.#connection.request({ method: 'GET', target, headers });
      if (reply.status !== 200) return { status: reply.status, groups: [] };
      found.push(this.#parsed(target, reply.headers.etag ?? '', reply.text));
    }
    return { status: 200, groups: found.flat() };
  }

  /** Resolves when the watch is over, however that came about; `signal` ends it in order. */
  async watch(
    target: string,
    { signal, onOpen, onEvent }: { signal: AbortSignal; onOpen: () => void; onEvent: (event: WatchEvent) => void },
  ): Promise<WatchEnd> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#timeoutMs);
    try {
      const reply = await this.#connection.open(
        { method: 'GET', target, headers: { accept: 'application/json' } },
        AbortSignal.any([signal, deadline.signal]),
      );
      clearTimeout(timer);
      const { statusCode: status = 0 } = reply;
      if (status !== 200) {
        const text = await this.#connection.readText(reply);
        return { how: 'refused', status, why: messageOf(parsedObject(text)) };
      }
      onOpen();
      for await (const event of eventsOf(reply)) onEvent(event);
      return { how: 'in order' };
    } catch (error) {
      if (signal.aborted) return { how: 'in order' };
      const { message } = deadline.signal.aborted ? this.#connection.timeoutError() : (error as Error);
      return { how: 'cut', why: message };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends every request and connection; calls that wait for a reply reject. */
  close(): void {
    this.#connection.close();
  }

  /** Throws DiscoveryDocumentError for a malformed document. */
  #parsed(path: string, etag: string, text: string): readonly GroupDiscovery[] {
    const key = `${path} ${etag}`;
    const known = this.#documents.get(key);
    if (known && etag !== '') return known;
    const from = this.#connection.url + path;
    const groups = parseAggregated(parseDiscoveryJson(text, from), from);
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

async function* eventsOf(body: AsyncIterable<Buffer>): AsyncGenerator<WatchEvent> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    if (rest.length > LINE_BYTES_MAX) throw new Error(`watch event is larger than ${LINE_BYTES_MAX} bytes`);
    for (const line of lines) {
      const { type, object } = parsedObject(line);
      if (typeof type !== 'string' || !isObject(object))
        throw new Error('a line of the watch is not a watch event (type and object)');
      yield { type, object };
    }
  }
}

import { AGGREGATED_V2, NO_PEER_VIEW } from '../../kube/accept.js';
import type { ApiAnswer, ApiRequest, WatchEvent } from '../../kube/client/api-client.js';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { parseAggregated, parseDiscoveryJson } from '../../kube/discovery-documents.js';
import { isObject, type JsonObject, parsedObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { HttpsConnection } from '../https/https-connection.js';
import type { ApiAccess } from './rehearsal-plane.js';

/** The API behind one address. */
export interface Api {
  /** Rejects only without a reply. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  discover(view?: DiscoveryView): Promise<Discovered>;
}

/** `local`: the discovery of the server without its peers (`profile=nopeer`). */
type DiscoveryView = 'merged' | 'local';

export interface Discovered {
  readonly status: number;
  /** Empty for another status than 200. */
  readonly groups: readonly GroupDiscovery[];
}

/** How a watch ended. */
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
  local: `${NO_PEER_VIEW},${AGGREGATED_V2},application/json`,
};

export interface ApiConnectionOptions {
  /** Timeout of a whole reply, or of the head of a watch. */
  readonly timeoutMs?: number;
}

/** A client with separate connections to one address: the front door, or one server. */
export class ApiConnection implements Api {
  readonly #connection: HttpsConnection;
  readonly #timeoutMs: number;
  /** Parsed documents by ETag, because a load reads the same ones again and again. */
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

  /** Resolves when the watch has ended for any reason; `signal` ends it in order. */
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

/** Returns the message of a Status, else an empty string. */
export function messageOf({ message }: JsonObject): string {
  return typeof message === 'string' ? message : '';
}

/** Returns the items of a list; empty if the reply is not a list. */
export function itemsOf({ body: { items } }: ApiAnswer): JsonObject[] {
  return Array.isArray(items) ? items.filter(isObject) : [];
}

/** Returns the UID of an object; an empty string without one. */
export function uidOf(object: JsonObject): string {
  return String(metadataOf(object)['uid'] ?? '');
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

import { setImmediate as nextTurn } from 'node:timers/promises';
import { rawQuery } from '../../base/target.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerList } from '../../http/headers.js';
import { documentReply, KUBE_APISERVER_GZIP, NOT_CACHED, ReadyDocument } from '../../http/ready-document.js';
import { chooseMediaType } from '../../kube/accept.js';
import { apiPath } from '../../kube/gvr.js';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { ServedResources } from '../registry/served-resources.js';
import { byGroupVersion, isCustom, type VersionResources } from './group-discovery.js';
import { type OpenApiSources, pathOpenApi, versionOpenApi } from './openapi-document.js';
import { byName } from './openapi-schema.js';

const OPENAPI_V3_PATH = '/openapi/v3';
/** Bound on cached documents. The built-in ones have about 4 MB. */
const OPENAPI_V3_BYTES_MAX = 32 * 1024 * 1024;
/** For a URL with the hash of the document. */
const IMMUTABLE = ['Cache-Control', 'public, immutable, max-age=31536000'];

/** The source of a document. Its hash stays known when the bytes are evicted. */
interface Entry {
  /** Undefined for documents of paths that describe the server itself. */
  readonly resources: VersionResources | undefined;
  readonly make: () => JsonObject;
  hash: string | undefined;
}

/**
 * OpenAPI v3 of one server: an index, and a document for each group-version. A document is made on
 * first use; `update` keeps those whose resources are the same objects.
 */
export class OpenApiV3 {
  readonly #sources: OpenApiSources;
  readonly #bytesMax: number;
  #entries: ReadonlyMap<string, Entry> = new Map();
  /** URLs, with hash, of the documents of aggregated API servers, by path. */
  #foreign: ReadonlyMap<string, string> = new Map();
  /** Least recently used first. */
  readonly #bytes = new Map<string, ReadyDocument>();
  #bytesHeld = 0;
  #index: Promise<ReadyDocument> | undefined;

  constructor(sources: OpenApiSources, bytesMax: number = OPENAPI_V3_BYTES_MAX) {
    this.#sources = sources;
    this.#bytesMax = bytesMax;
  }

  /** `foreign`: index path (`apis/metrics.k8s.io/v1beta1`) → URL of documents served elsewhere. */
  update(served: ServedResources, foreign: ReadonlyMap<string, string> = new Map()): void {
    const before = this.#entries;
    const entries = new Map<string, Entry>();
    const keep = (path: string, resources: VersionResources | undefined, make: () => JsonObject): void => {
      const known = before.get(path);
      const isSame = known !== undefined && sameResources(known.resources, resources);
      entries.set(path, isSame ? known : { resources, make, hash: undefined });
    };
    for (const path of ['api', 'apis', 'version']) keep(path, undefined, () => pathOpenApi(`/${path}/`, this.#sources));
    for (const version of byGroupVersion([...served.types, ...served.virtual])) {
      const { group, resources } = version;
      keep(apiPath(group, version.version).slice(1), version, () => versionOpenApi(version, this.#sources));
      if (group === '' || resources.every(isCustom)) continue;
      keep(`apis/${group}`, undefined, () => pathOpenApi(`/apis/${group}/`, this.#sources));
    }
    this.#entries = new Map([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));
    this.#foreign = foreign;
    this.#index = undefined;
    for (const [path, entry] of before) if (entries.get(path) !== entry) this.#drop(path);
  }

  /** Returns the paths of all documents, as in the index. */
  paths(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Returns the index. After a change this makes all documents, in turns of the event loop. */
  index(): Promise<ReadyDocument> {
    if (this.#index === undefined) {
      const making = this.#makeIndex();
      this.#index = making;
      making.catch(() => {
        if (this.#index === making) this.#index = undefined;
      });
    }
    return this.#index;
  }

  async #makeIndex(): Promise<ReadyDocument> {
    const entries = this.#entries;
    const urls: [string, string][] = [...this.#foreign].filter(([path]) => !entries.has(path));
    for (const [path, entry] of entries) {
      if (entry.hash === undefined) {
        this.#make(path, entry);
        await nextTurn();
      }
      urls.push([path, documentUrl(path, entry.hash!)]);
    }
    return jsonText({ paths: byName(urls.map(([path, serverRelativeURL]) => [path, { serverRelativeURL }])) });
  }

  /** Returns the document of a path of the index: `api/v1`, `apis/apps/v1`. */
  document(path: string): ReadyDocument | undefined {
    const entry = this.#entries.get(path);
    if (entry === undefined) return undefined;
    const known = this.#bytes.get(path);
    if (known === undefined) return this.#make(path, entry);
    this.#bytes.delete(path);
    this.#bytes.set(path, known);
    return known;
  }

  #make(path: string, entry: Entry): ReadyDocument {
    const made = jsonText(entry.make(), entry.hash);
    entry.hash = made.hash;
    // After an update meanwhile, the document is returned but not cached.
    if (this.#entries.get(path) === entry) this.#hold(path, made);
    return made;
  }

  #hold(path: string, made: ReadyDocument): void {
    this.#drop(path);
    this.#bytes.set(path, made);
    this.#bytesHeld += made.bytes.length;
    for (const oldest of this.#bytes.keys()) {
      if (this.#bytesHeld <= this.#bytesMax || this.#bytes.size === 1) break;
      this.#drop(oldest);
    }
  }

  #drop(path: string): void {
    this.#bytesHeld -= this.#bytes.get(path)?.bytes.length ?? 0;
    this.#bytes.delete(path);
  }
}

function jsonText(value: JsonObject, hash?: string): ReadyDocument {
  return new ReadyDocument('application/json', Buffer.from(JSON.stringify(value)), KUBE_APISERVER_GZIP, hash);
}

function sameResources(left: VersionResources | undefined, right: VersionResources | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const [a, b] = [left.resources, right.resources];
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

function documentUrl(path: string, hash: string): string {
  return `${OPENAPI_V3_PATH}/${path}?hash=${hash}`;
}

/** Replies to a request for OpenAPI v3; undefined for unknown paths and documents. */
export async function openApiV3Reply(
  exchange: Pick<Exchange, 'method' | 'headers' | 'info' | 'target'>,
  documents: OpenApiV3,
): Promise<Reply | undefined> {
  const { path } = exchange.info;
  if (path !== OPENAPI_V3_PATH && !path.startsWith(`${OPENAPI_V3_PATH}/`)) return undefined;
  const asked = path.slice(OPENAPI_V3_PATH.length + 1).replace(/\/$/, '');
  if (asked === '') return documentReply(await documents.index(), exchange, NOT_CACHED, false);
  const document = documents.document(asked);
  if (document === undefined) return undefined;
  if (chooseMediaType(headerList(exchange.headers, 'accept'), ['application/json']) === undefined) {
    throw new StatusError('NotAcceptable', 'only the following media types are accepted: application/json');
  }
  const hash = new URLSearchParams(rawQuery(exchange.target)).get('hash');
  if (hash === null) return documentReply(document, exchange);
  if (hash === document.hash) return documentReply(document, exchange, IMMUTABLE);
  // The requested content was replaced by another.
  const location = documentUrl(asked, document.hash);
  return { status: 301, headers: ['Location', location, ...NOT_CACHED, 'Content-Length', '0'], body: null };
}

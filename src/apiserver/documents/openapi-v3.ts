import { setImmediate as nextTurn } from 'node:timers/promises';
import { rawQuery } from '../../base/target.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValues } from '../../http/headers.js';
import { chooseMediaType } from '../../kube/accept.js';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { ServedResources } from '../registry/served-resources.js';
import { byGroupVersion, isCustom, type VersionResources } from './group-discovery.js';
import { type OpenApiSources, pathOpenApi, versionOpenApi } from './openapi-document.js';
import { NOT_CACHED, ReadyBytes, replyWith } from './ready-bytes.js';

export const OPENAPI_V3_PATH = '/openapi/v3';
/** All built-in documents together have about 4 MB; a few hundred definitions fit beside them. */
export const OPENAPI_V3_BYTES_MAX = 32 * 1024 * 1024;
/** The name of a document says what is in it, so whoever has it need not ask again. */
const IMMUTABLE = 'public, immutable, max-age=31536000';

/** What a document is made of. Its hash, once known, stays known when the bytes are dropped. */
interface Entry {
  /** Undefined for the documents of the server's own paths. */
  readonly resources: VersionResources | undefined;
  readonly make: () => JsonObject;
  hash: string | undefined;
}

/**
 * OpenAPI v3 of one server: an index, and a document for each group's version. A document is made when it is asked for
 * first; `update` keeps those whose resources stayed the very same objects.
 */
export class OpenApiV3 {
  readonly #sources: OpenApiSources;
  readonly #bytesMax: number;
  #entries: ReadonlyMap<string, Entry> = new Map();
  /** Documents of others (APIServices), by path, with the URL that carries their hash. */
  #foreign: ReadonlyMap<string, string> = new Map();
  /** Least recently used first. */
  readonly #bytes = new Map<string, ReadyBytes>();
  #bytesHeld = 0;
  #index: Promise<ReadyBytes> | undefined;

  constructor(sources: OpenApiSources, bytesMax: number = OPENAPI_V3_BYTES_MAX) {
    this.#sources = sources;
    this.#bytesMax = bytesMax;
  }

  /** `foreign`: index path (`apis/metrics.k8s.io/v1beta1`) → server-relative URL of documents served elsewhere. */
  update(served: ServedResources, foreign: ReadonlyMap<string, string> = new Map()): void {
    const before = this.#entries;
    const entries = new Map<string, Entry>();
    const keep = (path: string, resources: VersionResources | undefined, make: () => JsonObject): void => {
      const known = before.get(path);
      const isSame = known !== undefined && sameResources(known.resources, resources);
      entries.set(path, isSame ? known : { resources, make, hash: undefined });
    };
    const { surface } = this.#sources;
    for (const own of ['api', 'apis', 'version']) keep(own, undefined, () => pathOpenApi(`/${own}/`, surface));
    for (const version of byGroupVersion([...served.types, ...served.virtual])) {
      const { group, resources } = version;
      const path = group === '' ? `api/${version.version}` : `apis/${group}/${version.version}`;
      keep(path, version, () => versionOpenApi(version, this.#sources));
      if (group === '' || resources.every(isCustom)) continue;
      keep(`apis/${group}`, undefined, () => pathOpenApi(`/apis/${group}/`, surface));
    }
    this.#entries = new Map([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));
    this.#foreign = foreign;
    this.#index = undefined;
    for (const [path, entry] of before) if (entries.get(path) !== entry) this.#drop(path);
  }

  /** The group-versions that have a document here, in the form of the index. */
  paths(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Needs the hash of every document, so the first one after a change may take a while; it lets others in between. */
  index(): Promise<ReadyBytes> {
    if (this.#index === undefined) {
      const making = this.#makeIndex();
      this.#index = making;
      making.catch(() => {
        if (this.#index === making) this.#index = undefined;
      });
    }
    return this.#index;
  }

  async #makeIndex(): Promise<ReadyBytes> {
    const entries = this.#entries;
    const urls: [string, string][] = [...this.#foreign].filter(([path]) => !entries.has(path));
    for (const [path, entry] of entries) {
      if (entry.hash === undefined) {
        this.#make(path, entry);
        await nextTurn();
      }
      urls.push([path, documentUrl(path, entry.hash!)]);
    }
    urls.sort(([left], [right]) => (left < right ? -1 : 1));
    const paths = Object.fromEntries(urls.map(([path, serverRelativeURL]) => [path, { serverRelativeURL }]));
    return new ReadyBytes('application/json', Buffer.from(JSON.stringify({ paths })));
  }

  /** `path` as in the index: `api/v1`, `apis/apps/v1`. Undefined where there is none. */
  document(path: string): ReadyBytes | undefined {
    const entry = this.#entries.get(path);
    if (entry === undefined) return undefined;
    const known = this.#bytes.get(path);
    if (known === undefined) return this.#make(path, entry);
    this.#bytes.delete(path);
    this.#bytes.set(path, known);
    return known;
  }

  #make(path: string, entry: Entry): ReadyBytes {
    const made = new ReadyBytes('application/json', Buffer.from(JSON.stringify(entry.make())), entry.hash);
    entry.hash = made.hash;
    // A change may have come between: what it left behind is served to whoever waits for it, and not kept.
    if (this.#entries.get(path) === entry) this.#hold(path, made);
    return made;
  }

  #hold(path: string, made: ReadyBytes): void {
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

function sameResources(left: VersionResources | undefined, right: VersionResources | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const [a, b] = [left.resources, right.resources];
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

function documentUrl(path: string, hash: string): string {
  return `${OPENAPI_V3_PATH}/${path}?hash=${hash}`;
}

/** The answer to a request for OpenAPI v3; undefined for every other path and for documents that are not here. */
export async function openApiV3Reply(
  exchange: Pick<Exchange, 'method' | 'headers' | 'info' | 'target'>,
  documents: OpenApiV3,
): Promise<Reply | undefined> {
  const { path } = exchange.info;
  if (path !== OPENAPI_V3_PATH && !path.startsWith(`${OPENAPI_V3_PATH}/`)) return undefined;
  const asked = path.slice(OPENAPI_V3_PATH.length + 1).replace(/\/$/, '');
  if (asked === '') return replyWith(await documents.index(), exchange);
  const document = documents.document(asked);
  if (document === undefined) return undefined;
  if (!takesJson(exchange)) {
    throw new StatusError('NotAcceptable', 'only the following media types are accepted: application/json');
  }
  const hash = hashAsked(exchange.target);
  if (hash === undefined) return replyWith(document, exchange, { cacheControl: NOT_CACHED, tagged: true });
  if (hash === document.hash) return replyWith(document, exchange, { cacheControl: IMMUTABLE, tagged: true });
  // What was asked for is no longer; this is what took its place.
  const location = documentUrl(asked, document.hash);
  return {
    status: 301,
    headers: ['Location', location, 'Cache-Control', NOT_CACHED, 'Content-Length', '0'],
    body: null,
  };
}

function takesJson({ headers }: Pick<Exchange, 'headers'>): boolean {
  const accept = headerValues(headers, 'accept');
  return chooseMediaType(accept.length === 0 ? undefined : accept.join(','), ['application/json']) !== undefined;
}

function hashAsked(target: string): string | undefined {
  return new URLSearchParams(rawQuery(target)).get('hash') ?? undefined;
}

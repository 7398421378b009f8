import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValues } from '../../http/headers.js';
import { type AggregatedVersion as AggregatedForm, aggregatedParams, discoveryForms } from '../../kube/accept.js';
import type { GroupDiscovery, GroupDiscoveryList } from '../../kube/discovery.js';
import { StatusError } from '../../kube/status-error.js';
import type { ServedResources } from '../registry/served-resources.js';
import { byGroupVersion, groupDiscovery, type VersionResources } from './group-discovery.js';
import { jsonBytes, ReadyBytes, replyWith } from './ready-bytes.js';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './served-legacy-discovery.js';
import { type ServerVersion, versionDocument } from './server-version.js';

export interface DiscoveryOptions {
  /** `host:port` under which clients reach this server. */
  readonly serverAddress: string;
  readonly version: ServerVersion;
  /** Paths besides those of the API that `/` lists: health, metrics, OpenAPI. */
  readonly otherPaths: readonly string[];
}

type Root = 'core' | 'groups';

/**
 * Discovery of one server in all its forms, for one state of what it serves: a new state is a new one. Documents are
 * made when first asked for; there are at most as many as there are groups and versions.
 */
export class DiscoveryDocuments {
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
  readonly #versions: ReadonlyMap<string, VersionResources>;
  readonly #options: DiscoveryOptions;
  readonly #made = new Map<string, ReadyBytes>();

  constructor(served: ServedResources, options: DiscoveryOptions) {
    const all = groupDiscovery(served);
    this.core = all.filter(({ metadata }) => metadata.name === undefined);
    this.groups = all.filter(({ metadata }) => metadata.name !== undefined);
    const versions = byGroupVersion([...served.types, ...served.virtual]);
    this.#versions = new Map(versions.map((each) => [`${each.group}/${each.version}`, each]));
    this.#options = options;
  }

  aggregated(root: Root, version: AggregatedForm): ReadyBytes {
    return this.#make(`aggregated/${root}/${version}`, () => {
      const list: GroupDiscoveryList = {
        kind: 'APIGroupDiscoveryList',
        apiVersion: `apidiscovery.k8s.io/${version}`,
        metadata: {},
        items: this[root],
      };
      return jsonBytes(list, `application/json${aggregatedParams(version)}`);
    });
  }

  legacyRoot(root: Root): ReadyBytes {
    return this.#make(`legacy/${root}`, () =>
      jsonBytes(root === 'core' ? apiVersions(this.core[0], this.#options.serverAddress) : apiGroupList(this.groups)),
    );
  }

  /** Undefined where there is no such group. */
  group(name: string): ReadyBytes | undefined {
    const found = this.groups.find(({ metadata }) => metadata.name === name);
    return found && this.#make(`group/${name}`, () => jsonBytes(apiGroup(found)));
  }

  /** Undefined where this server does not serve the version itself: an APIService's server answers for it, or no one. */
  version(group: string, version: string): ReadyBytes | undefined {
    const found = this.#versions.get(`${group}/${version}`);
    return found && this.#make(`version/${group}/${version}`, () => jsonBytes(apiResourceList(found)));
  }

  /** `/version`. */
  serverVersion(): ReadyBytes {
    return this.#make('server-version', () => spaced(versionDocument(this.#options.version)));
  }

  /** `/`: every path there is, sorted. */
  paths(): ReadyBytes {
    return this.#make('paths', () => {
      const core = this.core.flatMap(({ versions = [] }) => versions.map(({ version }) => `/api/${version}`));
      const named = this.groups.flatMap(({ metadata: { name }, versions = [] }) => [
        `/apis/${name}`,
        ...versions.map(({ version }) => `/apis/${name}/${version}`),
      ]);
      const paths = new Set(['/api', '/apis', '/apis/', '/version', ...core, ...named, ...this.#options.otherPaths]);
      return spaced({ paths: [...paths].sort() });
    });
  }

  #make(name: string, make: () => ReadyBytes): ReadyBytes {
    const known = this.#made.get(name);
    if (known) return known;
    const made = make();
    this.#made.set(name, made);
    return made;
  }
}

/** kube-apiserver writes these two for people. */
function spaced(value: unknown): ReadyBytes {
  return new ReadyBytes('application/json', Buffer.from(JSON.stringify(value, null, 2)));
}

/**
 * The answer to a discovery request, `/version` and `/`. Undefined for every other path, and for groups and versions
 * that this server does not know: what else may answer those is not decided here.
 */
export async function discoveryReply(
  exchange: Pick<Exchange, 'method' | 'headers' | 'info'>,
  documents: DiscoveryDocuments,
): Promise<Reply | undefined> {
  const found = find(exchange.info.path, documents);
  if (found === undefined) return undefined;
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    throw new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
  if (found === 'core' || found === 'groups') return rootReply(exchange, documents, found);
  const accepted = discoveryForms(acceptOf(exchange)).some(
    ({ encoding, aggregated }) => encoding === 'json' && aggregated === undefined,
  );
  // kube-apiserver shows the list of paths to whoever asks.
  if (!accepted && exchange.info.path !== '/') throw notAcceptable();
  return replyWith(found, exchange);
}

function find(path: string, documents: DiscoveryDocuments): ReadyBytes | Root | undefined {
  if (path === '/') return documents.paths();
  const clean = path.endsWith('/') ? path.slice(0, -1) : path;
  if (clean === '/api') return 'core';
  if (clean === '/apis') return 'groups';
  if (clean === '/version') return documents.serverVersion();
  const [, prefix, first = '', second, ...rest] = clean.split('/');
  if (rest.length > 0 || first === '') return undefined;
  if (prefix === 'api') return second === undefined ? documents.version('', first) : undefined;
  if (prefix !== 'apis') return undefined;
  return second === undefined ? documents.group(first) : documents.version(first, second);
}

/** The first form that can be made wins, so a client that prefers protobuf gets JSON if it takes that at all. */
async function rootReply(
  exchange: Pick<Exchange, 'method' | 'headers'>,
  documents: DiscoveryDocuments,
  root: Root,
): Promise<Reply> {
  const form = discoveryForms(acceptOf(exchange)).find(({ encoding }) => encoding === 'json');
  if (form === undefined) throw notAcceptable();
  if (form.aggregated === undefined) return replyWith(documents.legacyRoot(root), exchange);
  return replyWith(documents.aggregated(root, form.aggregated), exchange, { cacheControl: 'public', tagged: true });
}

function acceptOf({ headers }: Pick<Exchange, 'headers'>): string | undefined {
  const values = headerValues(headers, 'accept');
  return values.length === 0 ? undefined : values.join(',');
}

function notAcceptable(): StatusError {
  return new StatusError('NotAcceptable', 'only the following media types are accepted: application/json');
}

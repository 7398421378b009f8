import { createHash } from 'node:crypto';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerList } from '../../http/headers.js';
import {
  documentReply,
  jsonDocument,
  KUBE_APISERVER_GZIP,
  NOT_CACHED,
  ReadyDocument,
} from '../../http/ready-document.js';
import { type AggregatedVersion as AggregatedForm, aggregatedParams, discoveryForms } from '../../kube/accept.js';
import type { GroupDiscovery, GroupDiscoveryList } from '../../kube/discovery.js';
import { apiPath } from '../../kube/gvr.js';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../../kube/legacy-discovery.js';
import { StatusError } from '../../kube/status-error.js';
import type { ServedResources } from '../registry/served-resources.js';
import { byGroupVersion, groupDiscovery, resourceDiscovery, type VersionResources } from './group-discovery.js';
import { versionDocument } from './server-version.js';

export interface DiscoveryOptions {
  /** `host:port` under which clients reach this server. */
  readonly serverAddress: string;
  /** `v1.36.0+straddle.2`: the Kubernetes version that is served, then the build. */
  readonly gitVersion: string;
  /** Paths besides those of the API that `/` lists: health, metrics, OpenAPI. */
  readonly otherPaths: readonly string[];
}

type Root = 'core' | 'groups';

/**
 * Discovery of one server in all its forms, for one state of its resources. Documents are made on
 * first use; there are at most a few per group and version.
 */
export class DiscoveryDocuments {
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
  readonly #versions: ReadonlyMap<string, VersionResources>;
  readonly #options: DiscoveryOptions;
  readonly #made = new Map<string, ReadyDocument>();

  constructor(served: ServedResources, options: DiscoveryOptions) {
    const all = groupDiscovery(served);
    this.core = all.filter(({ metadata }) => metadata.name === undefined);
    this.groups = all.filter(({ metadata }) => metadata.name !== undefined);
    const versions = byGroupVersion([...served.types, ...served.virtual]);
    this.#versions = new Map(versions.map((each) => [`${each.group}/${each.version}`, each]));
    this.#options = options;
  }

  aggregated(root: Root, version: AggregatedForm): ReadyDocument {
    return this.#make(`aggregated/${root}/${version}`, () => {
      const list: GroupDiscoveryList = {
        kind: 'APIGroupDiscoveryList',
        apiVersion: `apidiscovery.k8s.io/${version}`,
        metadata: {},
        items: this[root],
      };
      return json(list, `application/json${aggregatedParams(version)}`);
    });
  }

  legacyRoot(root: Root): ReadyDocument {
    return this.#make(`legacy/${root}`, () => {
      if (root === 'groups') return json(apiGroupList(this.groups));
      const versions = (this.core[0]?.versions ?? []).map(({ version }) => version);
      return json(apiVersions(versions, [{ clientCIDR: '0.0.0.0/0', serverAddress: this.#options.serverAddress }]));
    });
  }

  /** Returns undefined if there is no such group. */
  group(name: string): ReadyDocument | undefined {
    const document = apiGroup(this.groups, name);
    return document && this.#make(`group/${name}`, () => json(document));
  }

  /** Returns undefined if this server does not serve the version itself. */
  version(group: string, version: string): ReadyDocument | undefined {
    const found = this.#versions.get(`${group}/${version}`);
    return found && this.#make(`version/${group}/${version}`, () => json(resourceList(found)));
  }

  /** `/version`. */
  serverVersion(): ReadyDocument {
    return this.#make('server-version', () => spaced(versionDocument(this.#options.gitVersion)));
  }

  /** `/`: all paths, sorted. */
  paths(): ReadyDocument {
    return this.#make('paths', () => {
      const served = [...this.core, ...this.groups].flatMap(({ metadata: { name = '' }, versions = [] }) => [
        ...(name === '' ? [] : [`/apis/${name}`]),
        ...versions.map(({ version }) => apiPath(name, version)),
      ]);
      const paths = new Set(['/api', '/apis', '/apis/', '/version', ...served, ...this.#options.otherPaths]);
      return spaced({ paths: [...paths].sort() });
    });
  }

  #make(name: string, make: () => ReadyDocument): ReadyDocument {
    const known = this.#made.get(name);
    if (known) return known;
    const made = make();
    this.#made.set(name, made);
    return made;
  }
}

function json(value: unknown, contentType = 'application/json'): ReadyDocument {
  return jsonDocument(value, contentType, KUBE_APISERVER_GZIP);
}

/** kube-apiserver indents `/version` and `/`, for people. */
function spaced(value: unknown): ReadyDocument {
  return new ReadyDocument('application/json', Buffer.from(JSON.stringify(value, null, 2)), KUBE_APISERVER_GZIP);
}

function resourceList(version: VersionResources) {
  const stored = version.resources.filter((each) => 'storage' in each);
  const hashes = new Map(
    stored.map(({ resource, kind, storage }) => [resource, storageVersionHash(storage.apiVersion, kind)]),
  );
  return apiResourceList(version, version.resources.map(resourceDiscovery), (resource) => hashes.get(resource));
}

const HASH_BYTES = 8;

/** Returns kube-apiserver's hash, by which clients compare how two servers store a resource. */
export function storageVersionHash(apiVersion: string, kind: string): string {
  const place = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return createHash('sha256').update(`${place}/${kind}`).digest().subarray(0, HASH_BYTES).toString('base64');
}

/**
 * Replies to discovery requests, `/version` and `/`. Returns undefined for every other path, and
 * for groups and versions that this server does not serve.
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
  const accepted = discoveryForms(headerList(exchange.headers, 'accept')).some(
    ({ encoding, aggregated }) => encoding === 'json' && aggregated === undefined,
  );
  // kube-apiserver replies with the list of paths for any Accept.
  if (!accepted && exchange.info.path !== '/') throw notAcceptable();
  return documentReply(found, exchange, NOT_CACHED, false);
}

function find(path: string, documents: DiscoveryDocuments): ReadyDocument | Root | undefined {
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

/** Replies in the first implemented form: JSON also for clients that prefer protobuf. */
async function rootReply(
  exchange: Pick<Exchange, 'method' | 'headers'>,
  documents: DiscoveryDocuments,
  root: Root,
): Promise<Reply> {
  const form = discoveryForms(headerList(exchange.headers, 'accept')).find(({ encoding }) => encoding === 'json');
  if (form === undefined) throw notAcceptable();
  if (form.aggregated === undefined) return documentReply(documents.legacyRoot(root), exchange, NOT_CACHED, false);
  return documentReply(documents.aggregated(root, form.aggregated), exchange, ['Cache-Control', 'public']);
}

function notAcceptable(): StatusError {
  return new StatusError('NotAcceptable', 'only the following media types are accepted: application/json');
}

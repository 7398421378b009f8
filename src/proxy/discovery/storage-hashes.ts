import { apiPath } from '../../kube/gvr.js';
import type { Surface } from '../../kube/surface.js';
import { DocumentError, type DocumentFetcher } from './document-fetch.js';
import { findVersion, rankServers, type ServerSurface } from './merge.js';

/** Storage version hashes by resource. `complete` is false if a server could not be read. */
export interface StorageHashes {
  readonly hashes: ReadonlyMap<string, string>;
  readonly complete: boolean;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/**
 * Reads storage version hashes, which are only in legacy lists. Each server is read once per
 * group-version and surface, on demand. The newest server that has a resource has precedence, so
 * that all Straddles agree.
 */
export class StorageHashReader {
  readonly #fetcher: DocumentFetcher;
  /** Freed together with its surface. Bounded by the number of group-versions. */
  readonly #known = new WeakMap<Surface, Map<string, Promise<ReadonlyMap<string, string>>>>();

  constructor(fetcher: DocumentFetcher) {
    this.#fetcher = fetcher;
  }

  async of(servers: readonly ServerSurface[], at: GroupVersion): Promise<StorageHashes> {
    const hashes = new Map<string, string>();
    const covered = new Set<string>();
    let complete = true;
    for (const server of rankServers(servers)) {
      if (server.departed) continue;
      const { resources = [] } = findVersion(server.surface, at.group, at.version) ?? {};
      const names = resources.map(({ resource }) => resource).filter((name) => !covered.has(name));
      if (names.length === 0) continue;
      const read = await this.#read(server, at).catch(() => undefined);
      if (!read) {
        complete = false;
        continue;
      }
      for (const name of names) {
        covered.add(name);
        const hash = read.get(name);
        if (hash) hashes.set(name, hash);
      }
    }
    return { hashes, complete };
  }

  #read(server: ServerSurface, at: GroupVersion): Promise<ReadonlyMap<string, string>> {
    let bySurface = this.#known.get(server.surface);
    if (!bySurface) {
      bySurface = new Map();
      this.#known.set(server.surface, bySurface);
    }
    const key = `${at.group}/${at.version}`;
    let reading = bySurface.get(key);
    if (!reading) {
      reading = this.#fetch(server.identity, at);
      bySurface.set(key, reading);
      reading.catch(() => bySurface.delete(key));
    }
    return reading;
  }

  async #fetch(server: string, at: GroupVersion): Promise<ReadonlyMap<string, string>> {
    const target = apiPath(at.group, at.version);
    const request = { server, target, headers: ['Accept', 'application/json'], mediaTypes: ['application/json'] };
    const { status, body } = await this.#fetcher.fetch(request);
    // The surface contains this group-version, so a 404 means that the surface is about to change.
    if (status !== 200) throw new DocumentError('status', `${server} replied with ${status} to GET ${target}`);
    const hashes = parseHashes(body);
    if (!hashes) throw this.#fetcher.reportMalformed(request, 'the reply is not an APIResourceList');
    return hashes;
  }
}

function parseHashes(body: Buffer): ReadonlyMap<string, string> | undefined {
  try {
    const list: unknown = JSON.parse(body.toString());
    const { kind, resources } = list as { kind?: unknown; resources?: unknown };
    if (kind !== 'APIResourceList' || !Array.isArray(resources)) return undefined;
    const hashes = new Map<string, string>();
    for (const { name, storageVersionHash } of resources as { name?: unknown; storageVersionHash?: unknown }[]) {
      if (typeof name === 'string' && typeof storageVersionHash === 'string') hashes.set(name, storageVersionHash);
    }
    return hashes;
  } catch {
    return undefined;
  }
}

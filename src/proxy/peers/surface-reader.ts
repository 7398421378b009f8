import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { readBody } from '../../http/body-stream.js';
import { Deadline } from '../../http/deadline.js';
import { discard } from '../../http/discard.js';
import type { Reply } from '../../http/exchange.js';
import { headerValue, type RawHeaders } from '../../http/headers.js';
import type { OnAbort } from '../../http/on-abort.js';
import { AGGREGATED_V2, AGGREGATED_V2BETA1, NO_PEER_VIEW } from '../../kube/accept.js';
import type { GroupDiscovery, ResourceDiscovery, VersionDiscovery } from '../../kube/discovery.js';
import {
  documentKind,
  type LegacyGroup,
  parseAggregated,
  parseApiVersions,
  parseDiscoveryJson,
  parseGroupList,
  parseResourceList,
} from '../../kube/discovery-documents.js';
import { groupVersion } from '../../kube/gvr.js';
import { readServerVersion, type ServerVersion } from '../../kube/server-version.js';
import type { Surface } from '../../kube/surface.js';
import { buildSurface } from './surface-documents.js';

/** Sends one authenticated GET. `onAbort` registers a listener for cancellation. */
export type SurfaceFetch = (path: string, headers: RawHeaders, onAbort: OnAbort) => Promise<Reply>;

export interface SurfaceReaderOptions {
  readonly fetch: SurfaceFetch;
  readonly clock: Clock;
  /** Timeout of one whole read, all its requests together. */
  readonly timeoutMs?: number;
  readonly bodyBytesMax?: number;
  /** Concurrent requests to a server without aggregated discovery. */
  readonly legacyConcurrencyMax?: number;
}

/** A server replied to a discovery request with an error status. */
export class SurfaceReadError extends Error {
  readonly code: number;

  constructor(path: string, code: number, detail: string) {
    super(`GET ${path} answered ${code}${detail === '' ? '' : `: ${detail}`}`);
    this.name = 'SurfaceReadError';
    this.code = code;
  }
}

/** The view without peers where a server knows one, aggregated in either version, or else legacy lists. */
export const SURFACE_ACCEPT = [
  NO_PEER_VIEW,
  AGGREGATED_V2,
  `${AGGREGATED_V2BETA1};q=0.9`,
  'application/json;q=0.8',
].join(', ');

type Root = '/api' | '/apis';

/** Last reply of one of the two roots; immutable, replaced as a whole. */
interface RootState {
  readonly etag: string | undefined;
  readonly fingerprint: string;
  readonly groups: readonly GroupDiscovery[];
}

/**
 * Reads the surface of one server repeatedly, by conditional requests: two 304 replies while
 * nothing changes. A failed read changes nothing; the next one starts from the last successful
 * state.
 */
export class SurfaceReader {
  readonly #options: Required<SurfaceReaderOptions>;
  readonly #roots = new Map<Root, RootState>();
  /** Resources last read per legacy group-version, for an unavailable aggregated API server. */
  #legacySeen = new Map<string, readonly ResourceDiscovery[]>();
  #version: ServerVersion | undefined;
  #versionKnown = false;
  #surface: Surface | undefined;
  #running: Promise<Surface> | undefined;

  constructor(options: SurfaceReaderOptions) {
    this.#options = { timeoutMs: 5_000, bodyBytesMax: 16 * 1024 * 1024, legacyConcurrencyMax: 8, ...options };
  }

  /** Makes the next read fetch /version: the server was unreachable and may be another version now. */
  reconnected(): void {
    this.#versionKnown = false;
  }

  /** Reads the surface; the same object until a change. Concurrent calls share one read. */
  read(): Promise<Surface> {
    this.#running ??= this.#readBounded().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #readBounded(): Promise<Surface> {
    const deadline = new Deadline(this.#options.clock, this.#options.timeoutMs, 'reading discovery');
    try {
      return await deadline.race(this.#readAll(deadline));
    } catch (error) {
      // The other requests of a failed read are cancelled.
      deadline.cancel('the read failed');
      throw error;
    } finally {
      deadline.end();
    }
  }

  async #readAll(deadline: Deadline): Promise<Surface> {
    const legacySeen = new Map<string, readonly ResourceDiscovery[]>();
    const [core, groups] = await Promise.all([
      this.#readRoot('/api', deadline, legacySeen),
      this.#readRoot('/apis', deadline, legacySeen),
    ]);
    const sameDocuments =
      core.fingerprint === this.#roots.get('/api')?.fingerprint &&
      groups.fingerprint === this.#roots.get('/apis')?.fingerprint;
    // A changed document may be the first sign of a quick restart as another version.
    const version = this.#versionKnown && sameDocuments ? this.#version : await this.#readVersion(deadline);

    this.#roots.set('/api', core);
    this.#roots.set('/apis', groups);
    this.#legacySeen = legacySeen;
    this.#versionKnown = version !== undefined;
    const sameVersion = version === undefined || version.document === this.#version?.document;
    if (this.#surface && sameDocuments && sameVersion) return this.#surface;
    this.#version = version ?? this.#version;
    this.#surface = buildSurface({
      core: core.groups,
      groups: groups.groups,
      kubernetesVersion: this.#version?.gitVersion ?? '',
      versionDocument: this.#version?.document,
    });
    return this.#surface;
  }

  async #readRoot(path: Root, deadline: Deadline, legacySeen: Map<string, readonly ResourceDiscovery[]>) {
    const known = this.#roots.get(path);
    const condition = known?.etag === undefined ? [] : ['if-none-match', known.etag];
    const reply = await this.#get(path, ['accept', SURFACE_ACCEPT, ...condition], deadline);
    if (reply.status === 304 && known?.etag !== undefined) {
      discard(reply);
      return known;
    }
    const body = await this.#body(path, reply);
    const digest = createHash('sha1').update(body);
    const document = parseJson(path, body);
    if (documentKind(document) === 'APIGroupDiscoveryList') {
      const fingerprint = digest.digest('hex');
      const etag = headerValue(reply.headers, 'etag');
      if (known && known.fingerprint === fingerprint) return { ...known, etag };
      return { etag, fingerprint, groups: parseAggregated(document, path) };
    }
    const groups = await this.#readLegacy(path, document, deadline, legacySeen);
    return { etag: undefined, fingerprint: digest.update(JSON.stringify(groups)).digest('hex'), groups };
  }

  async #readLegacy(
    path: Root,
    document: unknown,
    deadline: Deadline,
    seen: Map<string, readonly ResourceDiscovery[]>,
  ): Promise<GroupDiscovery[]> {
    const listed: readonly LegacyGroup[] =
      path === '/api' ? [{ name: '', versions: parseApiVersions(document, path) }] : parseGroupList(document, path);
    const wanted = listed.flatMap((group) => group.versions.map((version) => ({ group: group.name, version })));
    const found = new Map<string, VersionDiscovery>();
    await eachBounded(wanted, this.#options.legacyConcurrencyMax, async ({ group, version }) => {
      const name = groupVersion(group, version);
      const entry = await this.#readLegacyVersion(path, group, version, deadline);
      if (!entry) return;
      found.set(name, entry);
      seen.set(name, entry.resources ?? []);
    });
    return listed.flatMap((group): GroupDiscovery[] => {
      const versions = group.versions.flatMap((version) => found.get(groupVersion(group.name, version)) ?? []);
      if (versions.length === 0) return [];
      const metadata =
        group.name === '' ? { creationTimestamp: null } : { name: group.name, creationTimestamp: null as null };
      return [{ metadata, versions }];
    });
  }

  /** Reads one legacy group-version; undefined if it was removed after it was listed. */
  async #readLegacyVersion(path: Root, group: string, version: string, deadline: Deadline) {
    const versionPath = `${path}/${groupVersion(encodeURIComponent(group), encodeURIComponent(version))}`;
    const reply = await this.#get(versionPath, ['accept', 'application/json'], deadline);
    if (reply.status === 404) {
      discard(reply);
      return undefined;
    }
    if (reply.status === 503) {
      // Listed, but its aggregated API server is unavailable: the resources last read are expected
      // to return.
      discard(reply);
      const resources = this.#legacySeen.get(groupVersion(group, version)) ?? [];
      return { version, resources, freshness: 'Stale' as const };
    }
    const document = parseJson(versionPath, await this.#body(versionPath, reply));
    return {
      version,
      resources: parseResourceList(document, versionPath, { group, version }),
      freshness: 'Current' as const,
    };
  }

  /** Returns the server's version, or undefined if /version fails: the surface is useful without it. */
  async #readVersion(deadline: Deadline): Promise<ServerVersion | undefined> {
    try {
      const reply = await this.#get('/version', ['accept', 'application/json'], deadline);
      return readServerVersion(await this.#body('/version', reply));
    } catch (error) {
      if (error instanceof SurfaceReadError) return undefined;
      throw error;
    }
  }

  #get(path: string, headers: RawHeaders, deadline: Deadline): Promise<Reply> {
    // Not compressed: on a local network that saves little and costs CPU time on both sides.
    return deadline.reply(this.#options.fetch(path, [...headers, 'accept-encoding', 'identity'], deadline.onAbort));
  }

  async #body(path: string, reply: Reply): Promise<Buffer> {
    if (reply.status !== 200) {
      const detail = await readBody(reply.body, ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0));
      throw new SurfaceReadError(path, reply.status, errorDetail(detail));
    }
    return readBody(reply.body, this.#options.bodyBytesMax);
  }
}

const ERROR_BODY_BYTES_MAX = 64 * 1024;
const ERROR_DETAIL_CHARS_MAX = 200;

/** Returns the message of a Status, else the beginning of the text, as one log line. */
function errorDetail(body: Buffer): string {
  let detail = body.toString('utf8', 0, ERROR_DETAIL_CHARS_MAX * 4);
  try {
    const message = (JSON.parse(body.toString('utf8')) as { message?: unknown } | null)?.message;
    if (typeof message === 'string') detail = message;
  } catch {
    // Not JSON: the text is used.
  }
  return detail
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, ERROR_DETAIL_CHARS_MAX);
}

function parseJson(path: string, body: Buffer): unknown {
  return parseDiscoveryJson(body.toString('utf8'), path);
}

async function eachBounded<T>(items: readonly T[], max: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
}

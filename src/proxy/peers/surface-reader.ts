import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { readBody } from '../../http/body-stream.js';
import { Deadline, dropBody, type OnAbort } from '../../http/deadline.js';
import type { Reply } from '../../http/exchange.js';
import { headerValue, type RawHeaders } from '../../http/headers.js';
import type { GroupDiscovery, ResourceDiscovery, VersionDiscovery } from '../../kube/discovery.js';
import {
  buildSurface,
  documentKind,
  type LegacyGroup,
  parseAggregated,
  parseApiVersions,
  parseGroupList,
  parseResourceList,
  SurfaceDocumentError,
} from '../../kube/discovery-documents.js';
import { groupVersion } from '../../kube/gvr.js';
import type { Surface } from '../../kube/surface.js';

/** Sends one GET, already authenticated. `onAbort` calls back when the answer is no longer wanted. */
export type SurfaceFetch = (path: string, headers: RawHeaders, onAbort: OnAbort) => Promise<Reply>;

export interface SurfaceReaderOptions {
  readonly fetch: SurfaceFetch;
  readonly clock: Clock;
  /** For one whole read, all its requests together. */
  readonly timeoutMs?: number;
  readonly bodyBytesMax?: number;
  /** Requests at once to a server that knows no aggregated discovery. */
  readonly legacyConcurrencyMax?: number;
}

export interface SurfaceReading {
  /** False if this is the very surface that the last read gave. */
  readonly changed: boolean;
  readonly surface: Surface;
}

/** A server that answered, but not with its discovery. */
export class SurfaceReadError extends Error {
  readonly code: number;

  constructor(path: string, code: number, detail: string) {
    super(`GET ${path} answered ${code}${detail === '' ? '' : `: ${detail}`}`);
    this.name = 'SurfaceReadError';
    this.code = code;
  }
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io';

/** A server's own view if it can tell it from the merged one, aggregated in either version, or else legacy lists. */
export const SURFACE_ACCEPT = [
  `${AGGREGATED};v=v2;as=APIGroupDiscoveryList;profile=nopeer`,
  `${AGGREGATED};v=v2;as=APIGroupDiscoveryList`,
  `${AGGREGATED};v=v2beta1;as=APIGroupDiscoveryList;q=0.9`,
  'application/json;q=0.8',
].join(', ');

type Root = '/api' | '/apis';

/** What is known of one of the two roots, replaced as a whole by a newer answer. */
interface RootState {
  readonly etag: string | undefined;
  readonly fingerprint: string;
  readonly groups: readonly GroupDiscovery[];
}

/**
 * Reads what one server serves, again and again, at the cost of two 304 answers while nothing changes.
 * A read that fails changes nothing: the next one starts from the last good state.
 */
export class SurfaceReader {
  readonly #options: Required<SurfaceReaderOptions>;
  readonly #roots = new Map<Root, RootState>();
  /** Resources last seen per legacy group-version, for when the server behind one is away. */
  #legacySeen = new Map<string, readonly ResourceDiscovery[]>();
  #version = '';
  #versionKnown = false;
  #surface: Surface | undefined;
  #running: Promise<SurfaceReading> | undefined;

  constructor(options: SurfaceReaderOptions) {
    this.#options = { timeoutMs: 5_000, bodyBytesMax: 16 * 1024 * 1024, legacyConcurrencyMax: 8, ...options };
  }

  get surface(): Surface | undefined {
    return this.#surface;
  }

  /** The server was away: it may have come back as another version. */
  reconnected(): void {
    this.#versionKnown = false;
  }

  /** Reads now; calls that overlap share one read. */
  read(): Promise<SurfaceReading> {
    this.#running ??= this.#readBounded().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #readBounded(): Promise<SurfaceReading> {
    const deadline = new Deadline(this.#options.clock, this.#options.timeoutMs, 'reading discovery');
    try {
      return await deadline.race(this.#readAll(deadline));
    } catch (error) {
      // One failed request makes the others pointless.
      deadline.cancel('the read failed');
      throw error;
    } finally {
      deadline.end();
    }
  }

  async #readAll(deadline: Deadline): Promise<SurfaceReading> {
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
    const kubernetesVersion = version ?? this.#version;
    if (this.#surface && sameDocuments && kubernetesVersion === this.#version) {
      return { changed: false, surface: this.#surface };
    }
    this.#version = kubernetesVersion;
    this.#surface = buildSurface({ core: core.groups, groups: groups.groups, kubernetesVersion });
    return { changed: true, surface: this.#surface };
  }

  async #readRoot(path: Root, deadline: Deadline, legacySeen: Map<string, readonly ResourceDiscovery[]>) {
    const known = this.#roots.get(path);
    const condition = known?.etag === undefined ? [] : ['if-none-match', known.etag];
    const reply = await this.#get(path, ['accept', SURFACE_ACCEPT, ...condition], deadline);
    if (reply.status === 304 && known?.etag !== undefined) {
      dropBody(reply, 'not needed');
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

  /** Undefined if the group-version went away after it was listed. */
  async #readLegacyVersion(path: Root, group: string, version: string, deadline: Deadline) {
    const versionPath = `${path}/${groupVersion(encodeURIComponent(group), encodeURIComponent(version))}`;
    const reply = await this.#get(versionPath, ['accept', 'application/json'], deadline);
    if (reply.status === 404) {
      dropBody(reply, 'not needed');
      return undefined;
    }
    if (reply.status === 503) {
      // Listed, but the aggregated API server behind it is away. What it served is still expected to be there.
      dropBody(reply, 'not needed');
      const resources = this.#legacySeen.get(groupVersion(group, version)) ?? [];
      return { version, resources, freshness: 'Stale' as const };
    }
    const document = parseJson(versionPath, await this.#body(versionPath, reply));
    return { version, resources: parseResourceList(document, { group, version }), freshness: 'Current' as const };
  }

  /** Undefined where the server does not say: a surface is of use without it. */
  async #readVersion(deadline: Deadline): Promise<string | undefined> {
    try {
      const reply = await this.#get('/version', ['accept', 'application/json'], deadline);
      const document = parseJson('/version', await this.#body('/version', reply)) as { gitVersion?: unknown } | null;
      const version = document?.gitVersion;
      return typeof version === 'string' && /^[\w.+-]{1,64}$/.test(version) ? version : undefined;
    } catch (error) {
      if (error instanceof SurfaceReadError || error instanceof SurfaceDocumentError) return undefined;
      throw error;
    }
  }

  #get(path: string, headers: RawHeaders, deadline: Deadline): Promise<Reply> {
    // Compressed answers would save little between machines of one rack and cost time on both.
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

/** The message of a Status if it is one, else the beginning of the text, fit for one log line. */
function errorDetail(body: Buffer): string {
  let detail = body.toString('utf8', 0, ERROR_DETAIL_CHARS_MAX * 4);
  try {
    const message = (JSON.parse(body.toString('utf8')) as { message?: unknown } | null)?.message;
    if (typeof message === 'string') detail = message;
  } catch {
    // Plain text it is.
  }
  return detail
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, ERROR_DETAIL_CHARS_MAX);
}

function parseJson(path: string, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new SurfaceDocumentError(`discovery document ${path}: is not JSON`);
  }
}

async function eachBounded<T>(items: readonly T[], max: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
}

import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { buildSurface, parseAggregated } from '../../kube/discovery-documents.js';
import type { Surface } from '../../kube/surface.js';
import { OncePerSubject } from '../../peers/once-per-subject.js';
import type { DepartedServer } from './peer-table.js';
import type { ForgetMark, Sighting } from './sightings.js';
import { StateFile } from './state-file.js';
import { subtractSurface } from './subtract-surface.js';

export interface DepartedMemoryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long what a departed server served is held back from being "not found". */
  readonly graceMs?: number;
  /** Where the memory is kept across restarts; without it, it lives in this process only. */
  readonly stateDir?: string | undefined;
  /** Names of this server itself, which is never remembered as departed. */
  readonly ownNames?: readonly string[];
}

const GRACE_MS_DEFAULT = 10 * 60_000;
const FILE_BYTES_MAX = 64 * 1024 * 1024;
const SERVERS_MAX = 256;
/** Changes that come close together (a CRD seen on every peer) are written once. */
const WRITE_DELAY_MS = 500;

export interface RememberedServer {
  readonly identity: string;
  /** Every host name that it is sighted by; absent if nothing but the identity is known. */
  readonly hosts?: readonly string[];
  readonly addresses: readonly string[];
  readonly surface: Surface;
}

interface Entry extends RememberedServer {
  /** Undefined while the server is live. */
  readonly departedAtMs: number | undefined;
}

/**
 * What servers served that are no longer there. Live servers are kept too: one that goes away while this process is
 * down has departed all the same. Only the last surface counts: what a live server stopped serving is forgotten.
 */
export class DepartedMemory {
  readonly #options: DepartedMemoryOptions;
  readonly #graceMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #file: StateFile | undefined;
  readonly #complaints = new OncePerSubject();
  #onChange: () => void = () => {};
  #departed: readonly DepartedServer[] = [];
  #cancelExpiry = () => {};
  #cancelWrite: (() => void) | undefined;

  private constructor(options: DepartedMemoryOptions) {
    this.#options = options;
    this.#graceMs = options.graceMs ?? GRACE_MS_DEFAULT;
    if (options.stateDir) this.#file = new StateFile(join(options.stateDir, fileName(options)), FILE_BYTES_MAX);
  }

  /** Never rejects: a file that cannot be read is said in the log, and the memory starts empty. */
  static async open(options: DepartedMemoryOptions): Promise<DepartedMemory> {
    const memory = new DepartedMemory(options);
    try {
      const text = await memory.#file?.read();
      if (text !== undefined) memory.#restore(parseEntries(text));
    } catch (error) {
      options.logger.warn('the memory of departed servers cannot be read and starts empty', { why: error });
    }
    return memory;
  }

  /** Called after `departed()` has changed by time alone. */
  onExpiry(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Servers that went away within the grace period, sorted by identity. The same array until something changes. */
  departed(): readonly DepartedServer[] {
    return this.#departed;
  }

  /** Every server that is remembered, live or departed. */
  servers(): IterableIterator<Omit<RememberedServer, 'surface'>> {
    return this.#entries.values();
  }

  /** Whether a server of this name or at one of these addresses is remembered. */
  knows({ hostname, address, upstreamAddress }: Partial<Sighting>): boolean {
    if (hostname !== undefined && this.#entries.has(hostname.toLowerCase())) return true;
    for (const { addresses } of this.#entries.values()) {
      if (addresses.some((each) => each === address || each === upstreamAddress)) return true;
    }
    return false;
  }

  /** The server is there and its surface was just read: whatever was remembered of it gives way to that. */
  present(server: RememberedServer): void {
    const known = this.#entries.get(server.identity);
    const stale = [...this.#entries.values()].filter((entry) => entry !== known && isSameServer(entry, server));
    const same = known && known.departedAtMs === undefined && known.surface === server.surface;
    const isCalledAlike = same && String(known.hosts) === String(server.hosts);
    if (isCalledAlike && stale.length === 0 && known.addresses.join() === server.addresses.join()) return;
    for (const entry of stale) this.#entries.delete(entry.identity);
    this.#put({ ...server, departedAtMs: undefined });
  }

  /** The server went away, with this as the last it was known to serve. */
  depart(server: RememberedServer, departedAtMs: number): void {
    if (this.#entries.get(server.identity)?.departedAtMs !== undefined) return;
    this.#put({ ...server, departedAtMs });
  }

  /**
   * Live servers serve this. What a departed server had in common with them did not go away with it, so whether it is
   * still there is for them to say from now on.
   */
  servedByOthers(surface: Surface): void {
    let less = false;
    for (const entry of [...this.#entries.values()]) {
      if (entry.departedAtMs === undefined) continue;
      const left = subtractSurface(entry.surface, surface);
      if (left === entry.surface) continue;
      this.#entries.set(entry.identity, { ...entry, surface: left });
      less = true;
    }
    if (less) this.#changed();
  }

  /** The server is now known by another name; it has not gone. */
  rename(identity: string): void {
    if (this.#entries.get(identity)?.departedAtMs === undefined && this.#entries.delete(identity)) this.#changed();
  }

  /** Drops servers that an operator gave up, unless they were there again since. */
  forget(marks: readonly ForgetMark[]): void {
    let dropped = false;
    for (const mark of marks) {
      for (const entry of [...this.#entries.values()]) {
        if (entry.departedAtMs === undefined || entry.departedAtMs > mark.atMs) continue;
        if (entry.identity !== mark.identity && !entry.addresses.includes(mark.identity)) continue;
        this.#entries.delete(entry.identity);
        this.#options.logger.info('forgetting a departed server as told', { server: entry.identity });
        dropped = true;
      }
    }
    if (dropped) this.#changed();
  }

  /** Writes what is not written yet. Never rejects. */
  async close(): Promise<void> {
    this.#cancelExpiry();
    this.#cancelWrite?.();
    if (this.#cancelWrite) await this.#write();
  }

  #put(entry: Entry): void {
    this.#entries.delete(entry.identity);
    if (this.#entries.size >= SERVERS_MAX) this.#dropOldest();
    this.#entries.set(entry.identity, entry);
    this.#changed();
  }

  /** The first of the departed in the map left first; live servers are bounded by the directory. */
  #dropOldest(): void {
    const oldest = [...this.#entries.values()].find((entry) => entry.departedAtMs !== undefined);
    const victim = oldest ?? this.#entries.values().next().value;
    if (victim) this.#entries.delete(victim.identity);
  }

  #restore(entries: readonly Entry[]): void {
    const nowMs = this.#options.clock.nowMs();
    const own = new Set((this.#options.ownNames ?? []).map((name) => name.toLowerCase()));
    for (const entry of entries.slice(0, SERVERS_MAX)) {
      if (own.has(entry.identity)) continue;
      // One that was live when this process stopped counts as departed now, until it is found again. A time in the
      // future is a clock that was set back.
      const departedAtMs = Math.min(entry.departedAtMs ?? nowMs, nowMs);
      this.#entries.set(entry.identity, { ...entry, departedAtMs });
    }
    this.#recount();
  }

  #changed(): void {
    this.#recount();
    if (!this.#file || this.#cancelWrite) return;
    this.#cancelWrite = this.#options.clock.after(WRITE_DELAY_MS, () => void this.#write());
  }

  #recount(): void {
    const nowMs = this.#options.clock.nowMs();
    const departed: DepartedServer[] = [];
    let nextExpiryMs = Number.POSITIVE_INFINITY;
    for (const { identity, surface, departedAtMs } of [...this.#entries.values()]) {
      if (departedAtMs === undefined) continue;
      if (departedAtMs + this.#graceMs <= nowMs) {
        this.#entries.delete(identity);
        this.#options.logger.info('grace period of a departed server is over', { server: identity });
        continue;
      }
      nextExpiryMs = Math.min(nextExpiryMs, departedAtMs + this.#graceMs);
      // The same object while nothing changes, so that the table need not be built anew.
      const shown = this.#departed.find((server) => server.identity === identity);
      const same = shown && shown.surface === surface && shown.departedAtMs === departedAtMs;
      departed.push(same ? shown : { identity, surface, departedAtMs });
    }
    this.#departed = departed.sort((a, b) => (a.identity < b.identity ? -1 : 1));
    this.#cancelExpiry();
    this.#cancelExpiry = () => {};
    if (!Number.isFinite(nextExpiryMs)) return;
    this.#cancelExpiry = this.#options.clock.after(nextExpiryMs - nowMs, () => {
      this.#changed();
      this.#onChange();
    });
  }

  async #write(): Promise<void> {
    this.#cancelWrite = undefined;
    try {
      await this.#file?.write(() => this.#serialize());
      this.#complaints.forget('write');
    } catch (error) {
      if (!this.#complaints.isNew('write')) return;
      this.#options.logger.warn('the memory of departed servers cannot be written', { why: error });
    }
  }

  #serialize(): string {
    const servers = [...this.#entries.values()].map(({ identity, hosts, addresses, departedAtMs, surface }) => ({
      identity,
      hosts,
      addresses,
      departedAtMs: departedAtMs ?? null,
      kubernetesVersion: surface.kubernetesVersion,
      core: surface.core,
      groups: surface.groups,
    }));
    return JSON.stringify({ format: FORMAT, servers });
  }
}

const FORMAT = 1;

/** A server without a host name is known by its address, and may come back under a name, or the other way round. */
function isSameServer(remembered: RememberedServer, found: RememberedServer): boolean {
  if (remembered.identity === found.identity) return true;
  if (remembered.addresses.includes(remembered.identity)) return found.addresses.includes(remembered.identity);
  return found.addresses.includes(found.identity) && remembered.addresses.includes(found.identity);
}

function parseEntries(text: string): Entry[] {
  const state = JSON.parse(text) as { format?: unknown; servers?: unknown } | null;
  if (state?.format !== FORMAT || !Array.isArray(state.servers)) throw new Error('not a file of this format');
  return state.servers.map((value: unknown): Entry => {
    const server = (value ?? {}) as Record<string, unknown>;
    const { identity, hosts, addresses, departedAtMs, kubernetesVersion } = server;
    if (typeof identity !== 'string' || !Array.isArray(addresses)) throw new Error('a server without a name');
    const list = (items: unknown, path: string) =>
      parseAggregated({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items }, path);
    return {
      identity,
      ...(Array.isArray(hosts) ? { hosts: hosts.map(String) } : {}),
      addresses: addresses.map(String),
      departedAtMs: typeof departedAtMs === 'number' ? departedAtMs : undefined,
      surface: buildSurface({
        core: list(server['core'], '/api'),
        groups: list(server['groups'], '/apis'),
        kubernetesVersion: typeof kubernetesVersion === 'string' ? kubernetesVersion : '',
      }),
    };
  });
}

/** Several Straddles of one machine may share a state directory: each has a file of its own, named for its server. */
function fileName({ ownNames }: DepartedMemoryOptions): string {
  const own = (ownNames?.[0] ?? '').toLowerCase().replace(/[^a-z0-9.-]/g, '_');
  return own === '' ? 'servers.json' : `servers-seen-by-${own}.json`;
}

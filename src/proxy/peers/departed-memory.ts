import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { OncePerSubject } from '../../base/once-per-subject.js';
import { parseAggregated } from '../../kube/discovery-documents.js';
import type { Surface } from '../../kube/surface.js';
import type { DepartedServer } from './peer-table.js';
import type { ForgetMark, Sighting } from './sightings.js';
import { StateFile } from './state-file.js';
import { subtractSurface } from './subtract-surface.js';
import { buildSurface } from './surface-documents.js';

export interface DepartedMemoryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time after its departure during which the resources of a server get 503 instead of 404. */
  readonly graceMs?: number;
  /** Folder of the state file; without it, a restart forgets departed servers. */
  readonly stateDir?: string | undefined;
  /** Names of the server behind this process, which is never stored as departed. */
  readonly selfNames?: readonly string[];
}

const GRACE_MS_DEFAULT = 10 * 60_000;
const FILE_BYTES_MAX = 64 * 1024 * 1024;
const SERVERS_MAX = 256;
/** Delay that batches close changes (a CRD that every peer starts to serve) into one write. */
const WRITE_DELAY_MS = 500;

export interface RememberedServer {
  readonly identity: string;
  /** Every host name of the server in sightings; absent if only the identity is known. */
  readonly hosts?: readonly string[];
  readonly addresses: readonly string[];
  readonly surface: Surface;
}

interface Entry extends RememberedServer {
  /** Undefined while the server is live. */
  readonly departedAtMs: number | undefined;
}

/**
 * Stores the surfaces of departed servers for the grace period. Live servers are stored too: after
 * a restart, those that are not found again count as departed. Only the last surface is kept, so a
 * resource that a live server stopped serving is not remembered.
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

  /** Never rejects: if the state file cannot be read, logs a warning and starts empty. */
  static async open(options: DepartedMemoryOptions): Promise<DepartedMemory> {
    const memory = new DepartedMemory(options);
    try {
      const text = await memory.#file?.read();
      if (text !== undefined) memory.#restore(parseEntries(text));
    } catch (error) {
      options.logger.warn('state file of departed servers cannot be read; starting empty', { why: error });
    }
    return memory;
  }

  /** Sets the listener that is called after `departed()` has changed because a grace period ended. */
  onExpiry(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Returns servers in their grace period by identity; the same array until a change. */
  departed(): readonly DepartedServer[] {
    return this.#departed;
  }

  /** Returns every stored server, live or departed. */
  servers(): IterableIterator<Omit<RememberedServer, 'surface'>> {
    return this.#entries.values();
  }

  /** Returns whether a server with this identity or one of these addresses is stored. */
  knows({ hostname, address, upstreamAddress }: Partial<Sighting>): boolean {
    if (hostname !== undefined && this.#entries.has(hostname.toLowerCase())) return true;
    for (const { addresses } of this.#entries.values()) {
      if (addresses.some((each) => each === address || each === upstreamAddress)) return true;
    }
    return false;
  }

  /** Stores a live server whose surface was just read. Replaces earlier entries of the same server. */
  present(server: RememberedServer): void {
    const known = this.#entries.get(server.identity);
    const stale = [...this.#entries.values()].filter((entry) => entry !== known && isSameServer(entry, server));
    const same = known && known.departedAtMs === undefined && known.surface === server.surface;
    const isCalledAlike = same && String(known.hosts) === String(server.hosts);
    if (isCalledAlike && stale.length === 0 && known.addresses.join() === server.addresses.join()) return;
    for (const entry of stale) this.#entries.delete(entry.identity);
    this.#put({ ...server, departedAtMs: undefined });
  }

  /** Stores a server as departed, with its last surface. No effect if it has departed. */
  depart(server: RememberedServer, departedAtMs: number): void {
    if (this.#entries.get(server.identity)?.departedAtMs !== undefined) return;
    this.#put({ ...server, departedAtMs });
  }

  /**
   * Removes the resources of a live server's surface from the departed ones: as long as a live
   * server serves them, its discovery decides whether they exist.
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

  /** Deletes the entry of a live server that has a new identity. No effect on a departed server. */
  rename(identity: string): void {
    if (this.#entries.get(identity)?.departedAtMs === undefined && this.#entries.delete(identity)) this.#changed();
  }

  /** Deletes departed servers that `straddle forget` marked, unless seen after the mark. */
  forget(marks: readonly ForgetMark[]): void {
    let dropped = false;
    for (const mark of marks) {
      for (const entry of [...this.#entries.values()]) {
        if (entry.departedAtMs === undefined || entry.departedAtMs > mark.atMs) continue;
        if (entry.identity !== mark.identity && !entry.addresses.includes(mark.identity)) continue;
        this.#entries.delete(entry.identity);
        this.#options.logger.info('departed server forgotten: an operator ran straddle forget', {
          server: entry.identity,
        });
        dropped = true;
      }
    }
    if (dropped) this.#changed();
  }

  /** Writes pending changes to the state file. Never rejects. */
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

  /**
   * Evicts the departed server that is first in the map, or the first live one if none has
   * departed. The directory bounds the number of live servers.
   */
  #dropOldest(): void {
    const oldest = [...this.#entries.values()].find((entry) => entry.departedAtMs !== undefined);
    const victim = oldest ?? this.#entries.values().next().value;
    if (victim) this.#entries.delete(victim.identity);
  }

  #restore(entries: readonly Entry[]): void {
    const nowMs = this.#options.clock.nowMs();
    const selfIdentities = new Set((this.#options.selfNames ?? []).map((name) => name.toLowerCase()));
    for (const entry of entries.slice(0, SERVERS_MAX)) {
      if (selfIdentities.has(entry.identity)) continue;
      // A server that was live when this process stopped counts as departed now, until it is found
      // again. A departure in the future means that the clock was set back.
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
        this.#options.logger.info('grace period of a departed server has expired', { server: identity });
        continue;
      }
      nextExpiryMs = Math.min(nextExpiryMs, departedAtMs + this.#graceMs);
      // Reuses the object of an unchanged server, so that the peer table is not rebuilt.
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
      this.#options.logger.warn('state file of departed servers cannot be written; check the state directory', {
        why: error,
      });
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

/**
 * Compares servers by identity, or by address if one of the two is known by its address only: a
 * server may get or lose its host name.
 */
function isSameServer(remembered: RememberedServer, found: RememberedServer): boolean {
  if (remembered.identity === found.identity) return true;
  if (remembered.addresses.includes(remembered.identity)) return found.addresses.includes(remembered.identity);
  return found.addresses.includes(found.identity) && remembered.addresses.includes(found.identity);
}

function parseEntries(text: string): Entry[] {
  const state = JSON.parse(text) as { format?: unknown; servers?: unknown } | null;
  if (state?.format !== FORMAT || !Array.isArray(state.servers)) throw new Error('unknown format of the state file');
  return state.servers.map((value: unknown): Entry => {
    const server = (value ?? {}) as Record<string, unknown>;
    const { identity, hosts, addresses, departedAtMs, kubernetesVersion } = server;
    if (typeof identity !== 'string' || !Array.isArray(addresses))
      throw new Error('entry without identity or addresses');
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

/**
 * Returns the name of the state file. It has the server's name in it, because several Straddles of
 * one machine may share a state directory.
 */
function fileName({ selfNames }: DepartedMemoryOptions): string {
  const selfName = (selfNames?.[0] ?? '').toLowerCase().replace(/[^a-z0-9.-]/g, '_');
  return selfName === '' ? 'servers.json' : `servers-seen-by-${selfName}.json`;
}

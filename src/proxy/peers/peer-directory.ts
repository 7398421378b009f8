import type { Clock } from '../../base/clock.js';
import type { ReadFailure } from '../../base/error-types.js';
import type { Logger } from '../../base/logger.js';
import type { Destination } from '../../http/outgoing.js';
import { type CoolDownBounds, PROBE_TIMEOUT_MS } from '../../http/server-health.js';
import type { Surface } from '../../kube/surface.js';
import type { KnownServer } from './address-claims.js';
import { ConflictLog } from './conflict-log.js';
import type { DepartedMemory } from './departed-memory.js';
import { type DirectoryDescription, describePeer } from './directory-description.js';
import { EndpointHealth } from './endpoint-health.js';
import { type EndpointName, EndpointPool, LINGER_MS } from './endpoint-pool.js';
import { NEWCOMER_BOUNDS, type NewcomerBounds, NewcomerGrace } from './newcomer-grace.js';
import { MONITOR_TIMINGS, type MonitorTimings, PeerMonitor } from './peer-monitor.js';
import type { PeerSource } from './peer-source.js';
import type { DepartedServer, Peer, PeerDirectory, PeerEndpoint, PeerTable } from './peer-table.js';
import { type Selves, type SightedServer, type SightedServers, uniteSightings } from './sightings.js';
import { type SurfaceFetch, SurfaceReader } from './surface-reader.js';
import { buildPeerTable, sameItems } from './table-index.js';
import { TrackedEndpoint } from './tracked-endpoint.js';

export interface PeerTimings extends MonitorTimings {
  /** Timeout of one whole surface read. */
  readonly readTimeoutMs: number;
  readonly readyTimeoutMs: number;
  readonly lingerMs: number;
  /** Interval of reviews without a report of a source, because claims to an address age. */
  readonly reviewEveryMs: number;
}

export const PEER_TIMINGS: PeerTimings = {
  ...MONITOR_TIMINGS,
  readTimeoutMs: 4_000,
  readyTimeoutMs: PROBE_TIMEOUT_MS,
  lingerMs: LINGER_MS,
  reviewEveryMs: 15_000,
};

export interface PeerDirectoryOptions {
  readonly sources: readonly PeerSource[];
  makeDestination(endpoint: EndpointName): Destination;
  makeFetch(destination: Destination, kind: PeerEndpoint['kind']): SurfaceFetch;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly selves: Selves;
  readonly memory: DepartedMemory;
  /** Surface of the server behind this process; undefined while it is down or not read yet. */
  readonly local?: { surface(): Surface | undefined; onChange(listener: () => void): () => void };
  readonly timings?: Partial<PeerTimings>;
  readonly healthBounds?: Partial<CoolDownBounds>;
  readonly newcomerBounds?: NewcomerBounds;
  readonly random?: () => number;
  /** Called for metrics after a probe or a surface read of a peer failed. */
  readonly onReadFailed?: (identity: string, type: ReadFailure) => void;
  /** Called after `usable()` of an endpoint has changed; the table stays the same. */
  readonly onHealth?: (() => void) | undefined;
  readonly onHang?: ((endpoint: PeerEndpoint, why: string) => void) | undefined;
}

export interface RunningPeerDirectory extends PeerDirectory {
  start(): void;
  describe(): DirectoryDescription;
  close(): Promise<void>;
}

export function createPeerDirectory(options: PeerDirectoryOptions): RunningPeerDirectory {
  return new Directory(options);
}

interface Watched {
  readonly monitor: PeerMonitor;
  readonly server: SightedServer;
  /** Entry of the peer table; replaced when its surface changes. */
  peer: Peer | undefined;
}

class Directory implements RunningPeerDirectory {
  readonly #options: PeerDirectoryOptions;
  readonly #timings: PeerTimings;
  readonly #random: () => number;
  readonly #pool: EndpointPool<TrackedEndpoint>;
  readonly #watched = new Map<string, Watched>();
  readonly #listeners = new Set<() => void>();
  readonly #grace: NewcomerGrace;
  readonly #conflictLog: ConflictLog;
  #sighted: SightedServers = { servers: [], conflicts: [], leftOutCount: 0 };
  #table: PeerTable = buildPeerTable({ peers: [], unread: [], departed: [] });
  #dirty = true;
  #announcing = false;
  #synced = false;
  #closed = false;
  #cancelReview = () => {};

  constructor(options: PeerDirectoryOptions) {
    this.#options = options;
    this.#timings = { ...PEER_TIMINGS, ...options.timings };
    this.#random = options.random ?? Math.random;
    this.#conflictLog = new ConflictLog(options.clock, options.logger);
    this.#grace = new NewcomerGrace({
      clock: options.clock,
      bounds: options.newcomerBounds ?? NEWCOMER_BOUNDS,
      onExhausted: () => this.#giveUpNewcomers(),
    });
    const { lingerMs } = this.#timings;
    this.#pool = new EndpointPool({ make: (name) => this.#makeEndpoint(name), clock: options.clock, lingerMs });
  }

  start(): void {
    this.#options.memory.onExpiry(() => this.#touch());
    this.#options.local?.onChange(() => this.#touch());
    for (const source of this.#options.sources) source.start(() => this.#review());
    this.#review();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelReview();
    this.#grace.close();
    for (const { monitor } of this.#watched.values()) monitor.close();
    await Promise.all(this.#options.sources.map((source) => source.close()));
    await this.#options.memory.close();
    await this.#pool.close();
  }

  snapshot(): PeerTable {
    if (this.#dirty) this.#rebuild();
    return this.#table;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  synced(): boolean {
    return this.#synced;
  }

  async refresh(peer: Peer): Promise<void> {
    await this.#watched.get(peer.identity)?.monitor.refresh();
  }

  describe(): DirectoryDescription {
    const nowMs = this.#options.clock.nowMs();
    const renewals = this.#renewals();
    return {
      synced: this.#synced,
      sources: this.#options.sources.map((source) => ({ name: source.name, answered: source.answered() })),
      peers: [...this.#watched.values()].map(({ monitor, server: { hosts } }) => ({
        ...describePeer(monitor, nowMs),
        ...renewal(hosts, renewals),
      })),
      departed: this.#options.memory.departed().map(({ identity, departedAtMs, surface }) => ({
        identity,
        departedAtMs,
        kubernetesVersion: surface.kubernetesVersion,
      })),
      conflicts: this.#sighted.conflicts,
      leftOutCount: this.#sighted.leftOutCount,
    };
  }

  /** Returns the last renewal of the leases of each host. */
  #renewals(): Map<string, number> {
    const renewals = new Map<string, number>();
    for (const source of this.#options.sources) {
      for (const { hostname, renewedAtMs } of source.sightings()) {
        if (hostname === undefined || renewedAtMs === undefined) continue;
        renewals.set(hostname, Math.max(renewals.get(hostname) ?? 0, renewedAtMs));
      }
    }
    return renewals;
  }

  #makeEndpoint(name: EndpointName): TrackedEndpoint {
    const { clock, healthBounds: bounds = {}, onHealth: onChange, onHang } = this.#options;
    const { readTimeoutMs: timeoutMs, readyTimeoutMs } = this.#timings;
    const destination = this.#options.makeDestination(name);
    const fetch = this.#options.makeFetch(destination, name.kind);
    const health = new EndpointHealth({ clock, random: this.#random, onChange, bounds });
    const reader = new SurfaceReader({ fetch, clock, timeoutMs });
    return new TrackedEndpoint({ kind: name.kind, destination, health, reader, fetch, clock, readyTimeoutMs, onHang });
  }

  /** Starts, restarts and stops monitors according to the current sightings. */
  #review(): void {
    if (this.#closed) return;
    this.#cancelReview();
    this.#cancelReview = this.#options.clock.after(this.#timings.reviewEveryMs, () => this.#review());
    const { sources, selves } = this.#options;
    this.#sighted = uniteSightings(
      sources.flatMap((source) => source.sightings()),
      selves,
      this.#known(),
    );
    const { servers, conflicts, leftOutCount } = this.#sighted;
    this.#conflictLog.update(conflicts, leftOutCount);
    const byIdentity = new Map(servers.map((server) => [server.identity, server]));
    const left: Watched[] = [];
    for (const [identity, watched] of this.#watched) {
      const server = byIdentity.get(identity);
      if (server && sameEndpoints(server, watched.server)) continue;
      this.#watched.delete(identity);
      watched.monitor.close();
      this.#grace.end(identity, false);
      left.push(watched);
    }
    for (const server of servers) {
      const watched = this.#watched.get(server.identity);
      if (!watched) this.#watch(server, left);
      else if (watched.server.incarnation !== server.incarnation) {
        this.#watched.set(server.identity, { ...watched, server });
        watched.monitor.wake();
      }
    }
    for (const watched of left) this.#settleDeparture(watched, servers);
    this.#pool.retain(servers.flatMap((server) => server.endpoints));
    this.#applyForgetMarks();
    this.#touch();
  }

  /** Returns servers that have answered: those of this run, and those in the memory of earlier runs. */
  #known(): KnownServer[] {
    const found = [...this.#watched.values()]
      .filter(({ monitor }) => monitor.surface !== undefined)
      .map(({ monitor, server }) => ({
        identity: server.identity,
        hosts: server.hosts,
        namedByStraddle: server.namedByStraddle,
        addresses: answeredAt(monitor).map((endpoint) => ({
          address: endpoint.destination.address,
          answering: endpoint.usable(),
        })),
      }));
    const identities = new Set(found.map(({ identity }) => identity));
    const remembered = [...this.#options.memory.servers()]
      .filter(({ identity }) => !identities.has(identity))
      .map(({ identity, hosts, addresses }) => ({
        identity,
        hosts: hosts ?? (addresses.includes(identity) ? [] : [identity]),
        namedByStraddle: false,
        addresses: addresses.map((address) => ({ address, answering: false })),
      }));
    return [...found, ...remembered];
  }

  /** Ends the holding of all servers that only leases name: the budget of NewcomerGrace is used up. */
  #giveUpNewcomers(): void {
    for (const { monitor, server } of this.#watched.values()) if (!server.vouched) monitor.giveUpUnread();
  }

  /** Returns whether a server that has not answered yet may turn 404 into 503 for a while. */
  #mayHoldBack(server: SightedServer): boolean {
    return server.vouched || this.#grace.begin(server.identity);
  }

  #watch(server: SightedServer, left: readonly Watched[]): void {
    const before = left.find((watched) => continues(server, watched));
    const { surface, surfaceReadAtMs: readAtMs } = before?.monitor ?? {};
    const present = before?.monitor.state === 'present' && surface !== undefined && readAtMs !== undefined;
    const { clock, logger, onReadFailed } = this.#options;
    const monitor = new PeerMonitor({
      identity: server.identity,
      endpoints: server.endpoints.map((endpoint) => this.#pool.get(endpoint)),
      reserve: new Set(server.endpoints.flatMap((each) => (each.isReserve ? [this.#pool.get(each)] : []))),
      clock,
      logger,
      timings: this.#timings,
      random: this.#random,
      onChange: () => this.#peerChanged(monitor),
      inherited: present ? { surface, readAtMs } : undefined,
      unreadSinceMs: before?.monitor.state === 'expected' ? before.monitor.unreadSinceMs : undefined,
      abandoned: !present && (before?.monitor.state === 'abandoned' || !this.#mayHoldBack(server)),
      onReadFailed,
    });
    if (!before) {
      const endpoints = server.endpoints.map((endpoint) => `${endpoint.kind} ${endpoint.address}`);
      logger.info('peer discovered', { peer: server.identity, endpoints });
    }
    this.#watched.set(server.identity, { monitor, server, peer: undefined });
    monitor.start();
  }

  /** Stores a server without sightings as departed, unless it was renamed or has moved. */
  #settleDeparture({ monitor, server }: Watched, servers: readonly SightedServer[]): void {
    const { memory, clock, logger, selves } = this.#options;
    const self = server.endpoints.some((endpoint) => selves.addresses.includes(endpoint.address));
    if (self || servers.some((other) => continues(other, { server }))) {
      if (!servers.some((other) => other.identity === server.identity)) memory.rename(server.identity);
      return;
    }
    logger.info('peer removed: no source names it any more', { peer: server.identity });
    if (monitor.state === 'present' && monitor.surface) {
      memory.depart(remembered(monitor, monitor.surface, server.hosts), clock.nowMs());
    }
  }

  #applyForgetMarks(): void {
    const { sources, memory } = this.#options;
    memory.forget(sources.flatMap((source) => source.forgetMarks?.() ?? []));
  }

  #peerChanged(monitor: PeerMonitor): void {
    const { memory } = this.#options;
    if (monitor.state !== 'expected') this.#grace.end(monitor.identity, monitor.surface !== undefined);
    if (monitor.surface) {
      const server = remembered(monitor, monitor.surface, this.#watched.get(monitor.identity)?.server.hosts ?? []);
      if (monitor.state === 'present') memory.present(server);
      // Departure is dated at the last reply, not at its detection: a forget mark may be between
      // the two.
      else if (monitor.state === 'departed') memory.depart(server, monitor.answeredAtMs);
    }
    this.#applyForgetMarks();
    this.#touch();
  }

  /** Marks the table as stale; a microtask calls the listeners if the rebuilt one differs. */
  #touch(): void {
    this.#dirty = true;
    if (this.#announcing || this.#closed) return;
    this.#announcing = true;
    queueMicrotask(() => {
      this.#announcing = false;
      if (this.#closed) return;
      this.#updateSynced();
      const before = this.#table;
      if (this.snapshot() === before) return;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  #updateSynced(): void {
    if (this.#synced) return;
    const answered = this.#options.sources.every((source) => source.answered());
    const synced = answered && [...this.#watched.values()].every(({ monitor }) => monitor.tried);
    if (!synced) return;
    this.#synced = true;
    this.#options.logger.info('peer directory synced', { peers: [...this.#watched.keys()] });
    for (const listener of [...this.#listeners]) listener();
  }

  #rebuild(): void {
    this.#dirty = false;
    const peers: Peer[] = [];
    const unread: Peer[] = [];
    for (const [, watched] of [...this.#watched].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const { monitor } = watched;
      const surface = monitor.state === 'present' ? monitor.surface : undefined;
      if (monitor.state === 'departed') continue;
      if (!watched.peer || watched.peer.surface !== surface) {
        watched.peer = { identity: monitor.identity, endpoints: monitor.endpoints, surface };
      }
      peers.push(watched.peer);
      if (!surface && monitor.state !== 'abandoned') unread.push(watched.peer);
    }
    const departed = this.#departedBut(peers);
    const now = this.#table;
    if (sameItems(peers, now.peers) && sameItems(unread, now.unread) && sameItems(departed, now.departed)) return;
    this.#table = buildPeerTable({ peers, unread, departed });
  }

  /** Returns departed servers with the resources that no live server serves. */
  #departedBut(peers: readonly Peer[]): readonly DepartedServer[] {
    const { memory, local } = this.#options;
    if (memory.departed().length === 0) return memory.departed();
    for (const surface of [local?.surface(), ...peers.map((peer) => peer.surface)]) {
      if (surface) memory.servedByOthers(surface);
    }
    return memory.departed();
  }
}

/** Endpoints at which the server has answered: a lease can name addresses of others. */
function answeredAt(monitor: PeerMonitor) {
  return monitor.endpoints.filter((endpoint) => endpoint.verified);
}

function remembered(monitor: PeerMonitor, surface: Surface, hosts: readonly string[]) {
  const addresses = answeredAt(monitor).map((endpoint) => endpoint.destination.address);
  return { identity: monitor.identity, hosts, addresses, surface };
}

/** Whether a server sighted now is the monitored one, under another name or address. */
function continues(server: SightedServer, { server: before }: Pick<Watched, 'server'>): boolean {
  if (server.identity === before.identity) return true;
  return server.endpoints.some((endpoint) => before.endpoints.some((known) => known.address === endpoint.address));
}

function renewal(
  hosts: readonly string[],
  renewals: ReadonlyMap<string, number>,
): { readonly leaseRenewedAtMs?: number } {
  const times = hosts.flatMap((host) => renewals.get(host) ?? []);
  return times.length === 0 ? {} : { leaseRenewedAtMs: Math.max(...times) };
}

function sameEndpoints(a: SightedServer, b: SightedServer): boolean {
  const text = (server: SightedServer) => server.endpoints.map((e) => `${e.kind} ${e.address} ${e.isReserve}`).join();
  return text(a) === text(b);
}

import type { Clock } from '../../base/clock.js';
import type { Destination } from '../../http/outgoing.js';
import type { Surface } from '../../kube/surface.js';
import type { DirectoryDescription } from '../peers/directory-description.js';
import { type EndpointName, EndpointPool, LINGER_MS } from '../peers/endpoint-pool.js';
import type { RunningPeerDirectory } from '../peers/peer-directory.js';
import type { DepartedServer, Peer, PeerTable } from '../peers/peer-table.js';
import { buildPeerTable, sameItems } from '../peers/table-index.js';
import { ReplicaEndpoint } from './replica-endpoint.js';
import type { SentPeer, ViewUpdate } from './worker-messages.js';

export interface ReplicaDirectoryOptions {
  makeDestination(endpoint: EndpointName): Destination;
  /** Reports to the head that traffic to an address failed. Failures are numbered. */
  readonly tellFailure: (endpoint: EndpointName, why: string, failure: number) => void;
  /** Makes the head read a peer again; resolves when it has, or after a timeout. */
  readonly refresh: (identity: string) => Promise<void>;
  readonly clock: Clock;
}

/**
 * The peer directory of a worker: a copy of the head's table, with connections of this process. The
 * only thing it detects itself is a failing address, which is unusable at once and reported to the
 * head.
 */
export class ReplicaDirectory implements RunningPeerDirectory {
  readonly #options: ReplicaDirectoryOptions;
  readonly #pool: EndpointPool<ReplicaEndpoint>;
  readonly #listeners = new Set<() => void>();
  #table: PeerTable = buildPeerTable({ peers: [], unread: [], departed: [] });
  #synced = false;
  #lastFailure = 0;

  constructor(options: ReplicaDirectoryOptions) {
    this.#options = options;
    const make = ({ kind, address }: EndpointName) =>
      new ReplicaEndpoint(kind, options.makeDestination({ kind, address }), (why) => {
        options.tellFailure({ kind, address }, why, ++this.#lastFailure);
        return this.#lastFailure;
      });
    this.#pool = new EndpointPool({ make, clock: options.clock, lingerMs: LINGER_MS });
  }

  take({ peers, departed, synced }: ViewUpdate, surfaces: ReadonlyMap<number, Surface>): void {
    const table = this.#table;
    const shown = peers.map((peer) =>
      this.#peer(peer, peer.surface === undefined ? undefined : surfaces.get(peer.surface)),
    );
    const unread = shown.filter((_, i) => peers[i]!.unread);
    const gone = departed.map((server): DepartedServer => {
      const surface = surfaces.get(server.surface)!;
      const known = table.departed.find(({ identity }) => identity === server.identity);
      const same = known && known.surface === surface && known.departedAtMs === server.departedAtMs;
      return same ? known : { identity: server.identity, departedAtMs: server.departedAtMs, surface };
    });
    this.#pool.retain(peers.flatMap((peer) => peer.endpoints));
    const same =
      synced === this.#synced &&
      sameItems(shown, table.peers) &&
      sameItems(unread, table.unread) &&
      sameItems(gone, table.departed);
    if (same) return;
    this.#synced = synced;
    this.#table = buildPeerTable({ peers: shown, unread, departed: gone });
    for (const listener of [...this.#listeners]) listener();
  }

  /** Fails the requests that wait for a server of which the head found that it hangs. */
  hangs(endpoint: EndpointName, why: string): void {
    this.#pool.find(endpoint)?.destination.abandonWaiting(why);
  }

  snapshot(): PeerTable {
    return this.#table;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  synced(): boolean {
    return this.#synced;
  }

  refresh(peer: Peer): Promise<void> {
    return this.#options.refresh(peer.identity);
  }

  start(): void {}

  /** Describes only this process: requests in flight. The head describes the rest. */
  describe(): DirectoryDescription {
    const peers = this.#table.peers.map(({ identity, endpoints, surface }) => ({
      identity,
      state: surface ? ('present' as const) : ('expected' as const),
      endpoints: endpoints.map(({ kind, destination, usable }) => ({
        kind,
        address: destination.address,
        usable: usable(),
        inFlight: destination.inFlight,
      })),
      kubernetesVersion: surface?.kubernetesVersion ?? '',
    }));
    const departed = this.#table.departed.map(({ identity, departedAtMs, surface }) => ({
      identity,
      departedAtMs,
      kubernetesVersion: surface.kubernetesVersion,
    }));
    return { synced: this.#synced, sources: [], peers, departed, conflicts: [], leftOutCount: 0 };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Returns the same object for an unchanged peer, so that tables built from it are not rebuilt. */
  #peer(sent: SentPeer, surface: Surface | undefined): Peer {
    const endpoints = sent.endpoints.map((each) => {
      const endpoint = this.#pool.get(each);
      endpoint.take(each);
      return endpoint;
    });
    const known = this.#table.peers.find(({ identity }) => identity === sent.identity);
    if (known && known.surface === surface && sameItems(known.endpoints, endpoints)) return known;
    return { identity: sent.identity, endpoints, surface };
  }
}

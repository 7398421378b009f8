import type { Surface } from '../../kube/surface.js';
import { type EndpointName, endpointKey } from '../peers/endpoint-pool.js';
import type { PeerDirectory, PeerEndpoint } from '../peers/peer-table.js';
import type { SentSurface, ViewUpdate } from './worker-messages.js';

export interface SharedViewOptions {
  readonly localSurface: () => Surface | undefined;
  readonly directory: PeerDirectory;
}

export interface Subscription {
  /** Returns the complete view for a new worker, which gets the changes from then on. */
  first(): ViewUpdate;
  /** Records a failure in this worker's traffic; later views to it contain its number. */
  endpointFailed(endpoint: EndpointName, why: string, failure: number): void;
  end(): void;
}

/**
 * Sends the head's view of all servers to its workers. Only the head reads servers; each surface is
 * serialised once, and sent to each worker once.
 */
export class SharedView {
  readonly #options: SharedViewOptions;
  readonly #subscribers = new Set<Subscriber>();
  readonly #numbers = new WeakMap<Surface, SentSurface>();
  #lastNumber = 0;
  #announcing = false;

  constructor(options: SharedViewOptions) {
    this.#options = options;
  }

  subscribe(send: (view: ViewUpdate) => void): Subscription {
    const subscriber: Subscriber = { send, known: new Set(), failureHeard: new Map(), isStarted: false };
    this.#subscribers.add(subscriber);
    return {
      first: () => {
        subscriber.isStarted = true;
        return this.#updateFor(subscriber);
      },
      endpointFailed: (endpoint, why, failure) => {
        subscriber.failureHeard.set(endpointKey(endpoint), failure);
        this.#endpoint(endpoint)?.report('failed', why);
        this.changed();
      },
      end: () => this.#subscribers.delete(subscriber),
    };
  }

  /** Schedules an update of the workers: one for all changes of a turn of the event loop. */
  changed(): void {
    if (this.#announcing) return;
    this.#announcing = true;
    queueMicrotask(() => this.flush());
  }

  /** Sends pending changes now, so that they arrive before an answer that is sent next. */
  flush(): void {
    if (!this.#announcing) return;
    this.#announcing = false;
    for (const subscriber of this.#subscribers) {
      if (subscriber.isStarted) subscriber.send(this.#updateFor(subscriber));
    }
  }

  #endpoint(name: EndpointName): PeerEndpoint | undefined {
    for (const { endpoints } of this.#options.directory.snapshot().peers) {
      const found = endpoints.find((each) => each.kind === name.kind && each.destination.address === name.address);
      if (found) return found;
    }
    return undefined;
  }

  #updateFor(subscriber: Subscriber): ViewUpdate {
    const { localSurface, directory } = this.#options;
    const table = directory.snapshot();
    const unread = new Set(table.unread);
    const used = new Map<number, SentSurface>();
    const number = (surface: Surface): number => {
      const sent = this.#numbered(surface);
      used.set(sent.id, sent);
      return sent.id;
    };
    const local = localSurface();
    const view = {
      local: local && number(local),
      synced: directory.synced(),
      peers: table.peers.map((peer) => ({
        identity: peer.identity,
        surface: peer.surface && number(peer.surface),
        unread: unread.has(peer),
        endpoints: peer.endpoints.map((endpoint) => sentEndpoint(endpoint, subscriber)),
      })),
      departed: table.departed.map(({ identity, departedAtMs, surface }) => ({
        identity,
        departedAtMs,
        surface: number(surface),
      })),
    };
    const surfaces = [...used.values()].filter(({ id }) => !subscriber.known.has(id));
    // A worker deletes surfaces that an update does not name, so they would have to be sent again.
    subscriber.known = new Set(used.keys());
    return { ...view, surfaces };
  }

  #numbered(surface: Surface): SentSurface {
    const known = this.#numbers.get(surface);
    if (known) return known;
    const { core, groups, kubernetesVersion, versionDocument } = surface;
    const bytes = Buffer.from(JSON.stringify({ core, groups, kubernetesVersion, versionDocument }));
    const sent = { id: ++this.#lastNumber, bytes };
    this.#numbers.set(surface, sent);
    return sent;
  }
}

interface Subscriber {
  readonly send: (view: ViewUpdate) => void;
  /** Numbers of the surfaces that the worker has. */
  known: ReadonlySet<number>;
  readonly failureHeard: Map<string, number>;
  isStarted: boolean;
}

function sentEndpoint(endpoint: PeerEndpoint, { failureHeard }: Subscriber) {
  const name = { kind: endpoint.kind, address: endpoint.destination.address };
  return { ...name, usable: endpoint.usable(), failureHeard: failureHeard.get(endpointKey(name)) ?? 0 };
}

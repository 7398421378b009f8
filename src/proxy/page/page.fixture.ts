import type { Surface } from '../../kube/surface.js';
import type { DirectoryDescription } from '../peers/directory-description.js';
import type { PeerTable } from '../peers/peer-table.js';
import { buildPeerTable } from '../peers/table-index.js';
import { surfaceOf } from '../routing/routing.fixture.js';
import type { FactSources } from './server-facts.js';

export { surfaceOf } from '../routing/routing.fixture.js';

export interface PlayedPeer {
  readonly name: string;
  surface: Surface | undefined;
  usable: boolean;
  readonly kind?: 'straddle' | 'kube-apiserver';
  lastError?: string;
  leaseRenewedAtMs?: number;
  surfaceAgeMs?: number;
  address?: string;
  /** Its monitor had no reply for some seconds; the peer table has it no more. */
  isDeparted?: boolean;
}

/** A control plane as one process knows it, which a test changes. */
export class PlayedPlane {
  nowMs = Date.UTC(2030, 0, 1);
  ready = true;
  surface: Surface | undefined = surfaceOf({ '/v1/pods': 'get list', '/v1/secrets': 'get list' }, 'v1.36.4');
  peers: PlayedPeer[] = [];
  departed: { identity: string; departedAtMs: number; surface: Surface }[] = [];
  passthrough = { on: false, sinceMs: 0, reason: '' };
  peeringActive = true;
  synced = true;
  leftOutCount = 0;
  conflicts: DirectoryDescription['conflicts'] = [];
  frontProxyExpiresAtMs: number | undefined;
  draining = false;
  confirmedMsAgo = 1_000;
  readonly #listeners = new Set<() => void>();

  readonly sources: FactSources = ((): FactSources => {
    const plane = this;
    return {
      serverName: 'cp-1',
      get peeringActive() {
        return plane.peeringActive;
      },
      hostReady: () => this.ready,
      local: {
        get surface() {
          return plane.surface;
        },
        get confirmedAtMs() {
          return plane.nowMs - plane.confirmedMsAgo;
        },
        onChange: (listener) => this.#onChange(listener),
      },
      directory: {
        snapshot: () => this.#table(),
        describe: () => this.#describe(),
        onChange: (listener) => this.#onChange(listener),
        synced: () => this.synced,
      },
      passthrough: () => this.passthrough,
      leaseRenewedAtMs: () => this.nowMs - 3_000,
      certificateExpiresAtMs: () => this.nowMs + 90 * 86_400_000,
      frontProxyExpiresAtMs: () => this.frontProxyExpiresAtMs,
      ownNames: ['10.0.0.1:6443'],
      isDraining: () => this.draining,
      nowMs: () => this.nowMs,
    };
  })();

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  #onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #table(): PeerTable {
    const peers = this.peers
      .filter(({ isDeparted }) => !isDeparted)
      .map(({ name, surface }) => ({ identity: name, endpoints: [], surface }));
    return buildPeerTable({ peers, unread: peers.filter(({ surface }) => !surface), departed: this.departed });
  }

  #describe(): DirectoryDescription {
    return {
      synced: this.synced,
      sources: [],
      peers: this.peers.map(
        ({
          name,
          surface,
          usable,
          kind = 'straddle',
          lastError,
          leaseRenewedAtMs,
          surfaceAgeMs = 1_000,
          isDeparted,
          address = `${name}:6443`,
        }) => ({
          identity: name,
          state: isDeparted ? 'departed' : surface ? 'present' : 'expected',
          endpoints: [{ kind, address, usable, inFlight: 0, ...(lastError === undefined ? {} : { lastError }) }],
          ...(surface ? { surfaceAgeMs } : {}),
          ...(leaseRenewedAtMs === undefined ? {} : { leaseRenewedAtMs }),
          kubernetesVersion: surface?.kubernetesVersion ?? '',
        }),
      ),
      departed: [],
      conflicts: this.conflicts,
      leftOutCount: this.leftOutCount,
    };
  }
}

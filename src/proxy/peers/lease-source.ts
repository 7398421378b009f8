import { canonicalAddress } from '../../base/address.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { OncePerSubject } from '../../base/once-per-subject.js';
import type { KubeClient, KubeObject } from '../../kube/client/kube-client.js';
import { explainKubeError, KubeError } from '../../kube/client/kube-error.js';
import { WatchList } from '../../kube/client/watch-list.js';
import type { PeerSource } from './peer-source.js';
import type { ForgetMark, Sighting } from './sightings.js';

export const LEASES_PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
export const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';
export const PEER_ADDRESS_ANNOTATION = 'kubernetes.io/peer-advertise-address';
export const UPSTREAM_ANNOTATION = 'straddle.dev/upstream';
/** Where the API server behind a Straddle listens; `loopback` means that other machines reach it through its Straddle only. */
export const UPSTREAM_LISTENS_ANNOTATION = 'straddle.dev/upstream-listens';
export const ON_LOOPBACK = 'loopback';
/** The server name where it is too long for the label or has characters not allowed there. */
export const SERVER_NAME_ANNOTATION = 'straddle.dev/server-name';
const SELECTOR = `${IDENTITY_LABEL} in (kube-apiserver,straddle,straddle-forget)`;
/** Bound on stored leases; a control plane has one or two for each server. */
export const LEASES_MAX = 2_000;
const LEASE_DURATION_SECONDS_MAX = 24 * 3600;

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface LeaseSourceOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether a server of that name or address has answered; at the bound, its leases are kept. */
  readonly isKnown?: (sighting: Sighting) => boolean;
}

interface SeenLease {
  readonly lease: Lease;
  readonly renewTime: string;
  /** Time by the local clock at which the renewal was seen: the holder's clock may be wrong. */
  readonly seenAtMs: number;
}

/**
 * Watches identity leases in kube-system. A lease drops out when it expires. A live lease does
 * not prove a live server (the lease of a kube-apiserver outlives it by up to an hour): PeerMonitor
 * decides that by probes.
 */
export class LeaseSource implements PeerSource {
  readonly name = 'leases';
  readonly #options: LeaseSourceOptions;
  readonly #leases = new Map<string, SeenLease>();
  readonly #complaints = new OncePerSubject();
  #watch: WatchList<Lease> | undefined;
  #onChange: () => void = () => {};
  #answered = false;
  #cancelExpiry = () => {};
  #sightings: readonly Sighting[] = [];
  #marks: readonly ForgetMark[] = [];
  #summary = '';

  constructor(options: LeaseSourceOptions) {
    this.#options = options;
  }

  start(onChange: () => void): void {
    this.#onChange = onChange;
    this.#watch = new WatchList<Lease>(this.#options.client, {
      path: LEASES_PATH,
      labelSelector: SELECTOR,
      onSnapshot: (items) => this.#replace(items),
      onEvent: (type, lease) => {
        if (type === 'DELETED') this.#leases.delete(lease.metadata.name ?? '');
        else this.#take(lease);
        this.#recount();
      },
      onError: (error) => this.#failed(error),
    });
  }

  sightings(): readonly Sighting[] {
    return this.#sightings;
  }

  forgetMarks(): readonly ForgetMark[] {
    return this.#marks;
  }

  answered(): boolean {
    return this.#answered;
  }

  async close(): Promise<void> {
    this.#cancelExpiry();
    await this.#watch?.close();
  }

  #replace(items: readonly Lease[]): void {
    const names = new Set(items.map((lease) => lease.metadata.name ?? ''));
    for (const name of this.#leases.keys()) if (!names.has(name)) this.#leases.delete(name);
    for (const lease of items) this.#take(lease);
    this.#complaints.forget('watch');
    this.#recount(!this.#answered);
  }

  #take(lease: Lease): void {
    const name = lease.metadata.name ?? '';
    const known = this.#leases.get(name);
    const renewTime = textOf(lease.spec?.renewTime) ?? '';
    const seenAtMs = known && known.renewTime === renewTime ? known.seenAtMs : this.#options.clock.nowMs();
    const seen = { lease, renewTime, seenAtMs };
    if (known || this.#leases.size < LEASES_MAX || this.#makeRoomFor(seen)) this.#leases.set(name, seen);
  }

  /** At the bound, replaces the lease of a server that never answered, if this one's server has. */
  #makeRoomFor(seen: SeenLease): boolean {
    if (this.#complaints.isNew('too many')) {
      const advice = 'delete identity leases in kube-system that belong to no server';
      this.#options.logger.warn('too many identity leases in kube-system; some are ignored', {
        max: LEASES_MAX,
        advice,
      });
    }
    if (!this.#isKnown(seen)) return false;
    for (const [name, other] of this.#leases) {
      if (this.#isKnown(other)) continue;
      this.#leases.delete(name);
      return true;
    }
    return false;
  }

  #isKnown(seen: SeenLease): boolean {
    const kind = seen.lease.metadata.labels?.[IDENTITY_LABEL];
    if (kind !== 'straddle' && kind !== 'kube-apiserver') return false;
    return this.#options.isKnown?.(this.#sightingOf(seen, kind)) ?? false;
  }

  /**
   * Rebuilds sightings and forget marks from live leases. Calls `onChange` only if they differ,
   * which most renewals do not cause.
   */
  #recount(force = false): void {
    this.#answered = true;
    const nowMs = this.#options.clock.nowMs();
    const sightings: Sighting[] = [];
    const marks: ForgetMark[] = [];
    let nextExpiryMs = Number.POSITIVE_INFINITY;
    for (const seen of this.#leases.values()) {
      const expiresAtMs = seen.seenAtMs + durationMs(seen.lease);
      if (expiresAtMs <= nowMs) continue;
      nextExpiryMs = Math.min(nextExpiryMs, expiresAtMs);
      const kind = seen.lease.metadata.labels?.[IDENTITY_LABEL];
      if (kind === 'straddle-forget') marks.push(...markOf(seen.lease));
      else if (kind === 'straddle' || kind === 'kube-apiserver') sightings.push(this.#sightingOf(seen, kind));
    }
    this.#scheduleExpiry(nextExpiryMs - nowMs);
    this.#sightings = sightings;
    this.#marks = marks;
    const summary = JSON.stringify([sightings.map(({ renewedAtMs: _, ...lasting }) => lasting), marks]);
    if (summary === this.#summary && !force) return;
    this.#summary = summary;
    this.#onChange();
  }

  #scheduleExpiry(inMs: number): void {
    this.#cancelExpiry();
    this.#cancelExpiry = () => {};
    if (Number.isFinite(inMs)) this.#cancelExpiry = this.#options.clock.after(inMs, () => this.#recount());
  }

  #sightingOf({ lease, seenAtMs }: SeenLease, kind: 'straddle' | 'kube-apiserver'): Sighting {
    const { labels, annotations } = lease.metadata;
    const hostname = textOf(annotations?.[SERVER_NAME_ANNOTATION]) ?? textOf(labels?.[HOSTNAME_LABEL]);
    const address = this.#addressOf(lease, PEER_ADDRESS_ANNOTATION);
    const upstreamAddress = kind === 'straddle' ? this.#addressOf(lease, UPSTREAM_ANNOTATION) : undefined;
    const isBehindStraddle =
      upstreamAddress !== undefined && annotations?.[UPSTREAM_LISTENS_ANNOTATION] === ON_LOOPBACK;
    // Clamped to the local time: a renewal in the future would make the claims of all others stale.
    const renewedAtMs = Math.min(Date.parse(lease.spec?.renewTime ?? ''), seenAtMs);
    const holder = textOf(lease.spec?.holderIdentity);
    return {
      source: 'lease',
      kind,
      ...(hostname === undefined ? {} : { hostname: hostname.toLowerCase() }),
      ...(address === undefined ? {} : { address }),
      ...(upstreamAddress === undefined ? {} : { upstreamAddress }),
      ...(isBehindStraddle ? { isBehindStraddle } : {}),
      ...(Number.isNaN(renewedAtMs) ? {} : { renewedAtMs }),
      ...(holder === undefined ? {} : { incarnation: holder }),
    };
  }

  #addressOf(lease: Lease, annotation: string): string | undefined {
    const text = lease.metadata.annotations?.[annotation];
    if (text === undefined || text === '') return undefined;
    const address = typeof text === 'string' ? canonicalAddress(text) : undefined;
    const name = lease.metadata.name ?? '';
    if (address === undefined && this.#complaints.isNew(`${name} ${annotation} ${text}`)) {
      const shown = String(text).slice(0, 100);
      this.#options.logger.warn('address in an identity lease ignored: not ip:port', {
        lease: name,
        annotation,
        address: shown,
      });
    }
    return address;
  }

  #failed(error: Error): void {
    if (this.#complaints.isNew('watch')) {
      this.#options.logger.warn('watch of the identity leases failed', { why: explainKubeError(error) });
    }
    if (this.#answered || !(error instanceof KubeError && error.refused)) return;
    this.#answered = true;
    this.#onChange();
  }
}

const NAME_CHARS_MAX = 253;

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARS_MAX ? value : undefined;
}

function durationMs(lease: Lease): number {
  const seconds = lease.spec?.leaseDurationSeconds;
  if (typeof seconds !== 'number' || !(seconds > 0)) return 0;
  return Math.min(seconds, LEASE_DURATION_SECONDS_MAX) * 1000;
}

function markOf(lease: Lease): ForgetMark[] {
  const identity = textOf(lease.spec?.holderIdentity);
  const atMs = Date.parse(lease.spec?.renewTime ?? '');
  return identity === undefined || Number.isNaN(atMs) ? [] : [{ identity: identity.toLowerCase(), atMs }];
}

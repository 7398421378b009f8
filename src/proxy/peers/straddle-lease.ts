import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { OncePerSubject } from '../../base/once-per-subject.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import type { KubeClient } from '../../kube/client/kube-client.js';
import { explainKubeError, KubeError } from '../../kube/client/kube-error.js';
import {
  HOSTNAME_LABEL,
  IDENTITY_LABEL,
  LEASES_PATH,
  type Lease,
  ON_LOOPBACK,
  PEER_ADDRESS_ANNOTATION,
  SERVER_NAME_ANNOTATION,
  UPSTREAM_ANNOTATION,
  UPSTREAM_LISTENS_ANNOTATION,
} from './lease-source.js';

export interface StraddleLeaseOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serverName: string;
  /** ip:port at which other machines reach this Straddle. */
  readonly advertiseAddress: string;
  /** ip:port at which other machines reach the API server behind it, if they can. */
  readonly upstreamAddress?: string;
  /** Asked before each renewal: whether the API server is reached through this Straddle only. Must not reject. */
  readonly isUpstreamBehind?: () => Promise<boolean>;
  readonly durationSeconds?: number;
  readonly renewEveryMs?: number;
  /** Delay before the next attempt after a refusal (403), which only an operator can change. */
  readonly refusedRetryMs?: number;
  /** Delay before the next attempt after any other failure. */
  readonly failedRetryMs?: number;
}

/** Returns the lease name of a server: a hash, because names exclude some characters. */
export function straddleLeaseName(serverName: string): string {
  return `straddle-${createHash('sha256').update(serverName.toLowerCase()).digest('hex').slice(0, 26)}`;
}

/**
 * The identity lease of this Straddle, which publishes its addresses to the other servers. Renewed
 * until closed. A lease left behind by a process with the same server name is taken over; leases
 * with other names for the same server or address are deleted once, after the first renewal.
 */
export class StraddleLease {
  readonly #options: Required<Omit<StraddleLeaseOptions, 'upstreamAddress' | 'isUpstreamBehind'>> &
    StraddleLeaseOptions;
  readonly #holder: string;
  readonly #path: string;
  readonly #complaints = new OncePerSubject();
  #current: Lease | undefined;
  readonly #renewals: RepeatedTask;
  #pauseMs = 0;
  #swept = false;
  #isUpstreamBehind = false;

  constructor(options: StraddleLeaseOptions) {
    this.#options = {
      durationSeconds: 40,
      renewEveryMs: 10_000,
      refusedRetryMs: 60_000,
      failedRetryMs: 2_000,
      ...options,
    };
    this.#holder = `${options.serverName.toLowerCase()}_${randomUUID()}`;
    this.#path = `${LEASES_PATH}/${straddleLeaseName(options.serverName)}`;
    const { clock } = options;
    this.#renewals = new RepeatedTask({ clock, run: () => this.#attempt(), pauseMs: () => this.#pauseMs });
  }

  /** True if the lease exists and is held by this process. */
  get held(): boolean {
    return this.#current !== undefined;
  }

  /** Time of the last renewal; undefined before the first one. */
  get renewedAtMs(): number | undefined {
    const renewedAtMs = Date.parse(this.#current?.spec?.renewTime ?? '');
    return Number.isNaN(renewedAtMs) ? undefined : renewedAtMs;
  }

  /** Starts renewals; resolves when the first attempt has ended, even if it failed. */
  start(): Promise<void> {
    return this.#renewals.now();
  }

  /** Deletes the lease, unless another process has taken it over. Never rejects. */
  async close(): Promise<void> {
    await this.#renewals.close();
    const { uid, resourceVersion } = this.#current?.metadata ?? {};
    if (!this.#current) return;
    try {
      await this.#options.client.delete(this.#path, {
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      });
    } catch (error) {
      if (error instanceof KubeError && (error.code === 404 || error.code === 409)) return;
      this.#options.logger.warn('lease of this Straddle could not be deleted; it will expire', {
        why: explainKubeError(error),
      });
    }
  }

  async #attempt(): Promise<void> {
    this.#pauseMs = this.#options.renewEveryMs;
    try {
      this.#isUpstreamBehind = (await this.#options.isUpstreamBehind?.()) ?? false;
      await this.#renew();
      if (!this.#swept) await this.#sweep();
      this.#complaints.forget('renew');
    } catch (error) {
      const refused = error instanceof KubeError && error.refused;
      this.#pauseMs = refused ? this.#options.refusedRetryMs : this.#options.failedRetryMs;
      if (this.#complaints.isNew('renew')) {
        this.#options.logger.warn('lease of this Straddle could not be renewed: peers find it by flags only', {
          why: explainKubeError(error),
        });
      }
    }
  }

  async #renew(): Promise<void> {
    const { client } = this.#options;
    try {
      this.#current = this.#current
        ? await client.update<Lease>(this.#path, this.#lease(this.#current))
        : await this.#createOrTakeOver();
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== 404 && error.code !== 409)) throw error;
      // Deleted or changed by another process: create it, or take over the existing one.
      this.#current = await this.#createOrTakeOver();
    }
  }

  async #createOrTakeOver(): Promise<Lease> {
    const { client, logger, clock } = this.#options;
    try {
      return await client.create<Lease>(LEASES_PATH, this.#lease(undefined));
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 409) throw error;
    }
    const found = await client.get<Lease>(this.#path);
    const foreign = found.spec?.holderIdentity !== this.#holder;
    const ageMs = clock.nowMs() - Date.parse(found.spec?.renewTime ?? '');
    if (foreign && this.#current && ageMs < this.#options.durationSeconds * 1000 && this.#complaints.isNew('rival')) {
      logger.warn('another Straddle renews the lease of this server name; give each its own server name', {
        serverName: this.#options.serverName,
        holder: found.spec?.holderIdentity,
      });
    }
    return client.update<Lease>(this.#path, this.#lease(found));
  }

  /** Deletes leases that earlier processes of this server left under other names. */
  async #sweep(): Promise<void> {
    const { client, serverName, advertiseAddress, logger } = this.#options;
    const { items } = await client.list<Lease>(
      `${LEASES_PATH}?labelSelector=${encodeURIComponent(`${IDENTITY_LABEL}=straddle`)}`,
    );
    this.#swept = true;
    for (const { metadata } of items) {
      if (metadata.name === undefined || metadata.name === straddleLeaseName(serverName)) continue;
      const sameName = metadata.labels?.[HOSTNAME_LABEL]?.toLowerCase() === serverName.toLowerCase();
      const sameAddress = metadata.annotations?.[PEER_ADDRESS_ANNOTATION] === advertiseAddress;
      if (!sameName && !sameAddress) continue;
      logger.info('deleting a stale lease of this server', { lease: metadata.name });
      await client.delete(`${LEASES_PATH}/${encodeURIComponent(metadata.name)}`).catch((error: unknown) => {
        if (error instanceof KubeError && error.code === 404) return;
        logger.warn('stale lease could not be deleted; it will expire', {
          lease: metadata.name,
          why: explainKubeError(error),
        });
      });
    }
  }

  #lease(from: Lease | undefined): Lease {
    const { serverName, advertiseAddress, upstreamAddress, durationSeconds, clock } = this.#options;
    const now = `${new Date(clock.nowMs()).toISOString().slice(0, -1)}000Z`;
    const labelled = /^[a-z0-9A-Z]([\w.-]{0,61}[a-z0-9A-Z])?$/.test(serverName);
    const transitions = from?.spec?.leaseTransitions ?? 0;
    const taken = from !== undefined && from.spec?.holderIdentity !== this.#holder;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: straddleLeaseName(serverName),
        namespace: 'kube-system',
        ...(from?.metadata.resourceVersion === undefined ? {} : { resourceVersion: from.metadata.resourceVersion }),
        labels: { [IDENTITY_LABEL]: 'straddle', ...(labelled ? { [HOSTNAME_LABEL]: serverName.toLowerCase() } : {}) },
        annotations: {
          [PEER_ADDRESS_ANNOTATION]: advertiseAddress,
          ...(upstreamAddress === undefined ? {} : { [UPSTREAM_ANNOTATION]: upstreamAddress }),
          ...(this.#isUpstreamBehind ? { [UPSTREAM_LISTENS_ANNOTATION]: ON_LOOPBACK } : {}),
          ...(labelled ? {} : { [SERVER_NAME_ANNOTATION]: serverName.toLowerCase() }),
        },
      },
      spec: {
        holderIdentity: this.#holder,
        leaseDurationSeconds: durationSeconds,
        acquireTime: from && !taken ? (from.spec?.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: taken ? transitions + 1 : transitions,
      },
    };
  }
}

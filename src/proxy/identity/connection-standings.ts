import type { X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import type { Authenticated } from '../../http/authenticate.js';
import type { ClientConnection } from '../../http/exchange.js';
import { ClientChain } from '../../http/tls/certificate-chain.js';
import { type CertificateStanding, standingOf } from './certificate-standing.js';

export interface ConnectionStandingsOptions {
  /**
   * Returns the current CA bundle. A new array makes every connection be verified again, so return
   * the same until it changes.
   */
  readonly clientCa: () => readonly X509Certificate[];
  readonly requestHeaderCa: () => readonly X509Certificate[];
  /** Common names allowed for front proxies; empty allows any, as in kube-apiserver. */
  readonly allowedNames: readonly string[];
  readonly clock: Clock;
}

/** Time for which a refusal is cached: a validity may begin, the clock may be set. */
export const REFUSAL_KEPT_MS = 10_000;

/** Result for a connection with a client certificate. */
export interface ConnectionStanding {
  readonly standing: CertificateStanding;
  /** The user of the certificate, one object for all requests of the connection. */
  readonly user: Authenticated | undefined;
}

interface CachedStanding extends ConnectionStanding {
  readonly clientCa: readonly X509Certificate[];
  readonly requestHeaderCa: readonly X509Certificate[];
  /** The chain of a refused certificate, kept so that the next attempt repeats no signature check. */
  readonly refusedChain: ClientChain | undefined;
  readonly goodUntilMs: number;
}

/** Verifies the client certificate of each connection once, and again when a CA bundle changes or the result expires. */
export class ConnectionStandings {
  readonly #options: ConnectionStandingsOptions;
  readonly #cached = new WeakMap<ClientConnection, CachedStanding>();

  constructor(options: ConnectionStandingsOptions) {
    this.#options = options;
  }

  /** Returns whose the certificate of a connection is; a front proxy's may be a user's too. Undefined if it is not accepted. */
  ownerOf(connection: ClientConnection): 'user' | 'front-proxy' | undefined {
    if (connection.certificateChain.length === 0) return undefined;
    const { user, frontProxy } = this.of(connection).standing;
    if (frontProxy) return 'front-proxy';
    return user && 'user';
  }

  /** The connection must have a certificate. */
  of(connection: ClientConnection): ConnectionStanding {
    const clientCa = this.#options.clientCa();
    const requestHeaderCa = this.#options.requestHeaderCa();
    const nowMs = this.#options.clock.nowMs();
    const before = this.#cached.get(connection);
    const current = before?.clientCa === clientCa && before.requestHeaderCa === requestHeaderCa;
    if (before && current && nowMs <= before.goodUntilMs) return before;
    const chain = (current && before.refusedChain) || new ClientChain(connection.certificateChain);
    const { allowedNames } = this.#options;
    const standing = standingOf(chain, connection.certificateChain[0]!, {
      clientCa,
      requestHeaderCa,
      allowedNames,
      nowMs,
    });
    const accepted = isAccepted(standing);
    const { user, frontProxy } = standing;
    const now: CachedStanding = {
      clientCa,
      requestHeaderCa,
      refusedChain: accepted ? undefined : chain,
      standing,
      user: user && { identity: user, peerProxied: false, trustedProxy: frontProxy },
      goodUntilMs: accepted ? standing.notAfterMs : nowMs + REFUSAL_KEPT_MS,
    };
    this.#cached.set(connection, now);
    return now;
  }
}

function isAccepted({ user, frontProxy }: CertificateStanding): boolean {
  return user !== undefined || frontProxy;
}

import type { X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { addressBlock } from '../../http/address-block.js';
import type { Authenticate, Authenticated } from '../../http/authenticate.js';
import { bearerCredential } from '../../http/bearer.js';
import type { ClientConnection, Exchange } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import type { Identity } from '../../http/identity.js';
import { ClientChain } from '../../http/tls/certificate-chain.js';
import { StatusError } from '../../kube/status-error.js';
import { type CertificateStanding, standingOf } from './certificate-standing.js';
import type { CredentialProofs } from './credential-proofs.js';
import { identityFromHeaders, type RequestHeaderNames, requestHeaderReader } from './request-header.js';

export type { Authenticate } from '../../http/authenticate.js';

export interface AuthenticatorOptions extends Partial<RequestHeaderNames> {
  /**
   * Returns the current CA bundle. A new array makes every connection be verified again, so return
   * the same until it changes.
   */
  readonly clientCa: () => readonly X509Certificate[];
  readonly requestHeaderCa: () => readonly X509Certificate[];
  /** Common names allowed for front proxies; empty allows any, as in kube-apiserver. */
  readonly allowedNames: readonly string[];
  /** Tokens that API servers have accepted; without it every token is unproven. */
  readonly proofs?: CredentialProofs;
  readonly clock: Clock;
}

/** Time for which a refusal is cached: a validity may begin, the clock may be set. */
export const REFUSAL_KEPT_MS = 10_000;

interface CachedStanding {
  readonly clientCa: readonly X509Certificate[];
  readonly requestHeaderCa: readonly X509Certificate[];
  /** The chain of a refused certificate, kept so that the next attempt repeats no signature check. */
  readonly refusedChain: ClientChain | undefined;
  readonly standing: CertificateStanding;
  readonly user: Authenticated | undefined;
  readonly goodUntilMs: number;
}

/**
 * Identifies the caller in the order of kube-apiserver: identity headers of a front proxy, then the
 * client certificate, then credentials in the request. Only the API server can verify the latter,
 * so they are forwarded.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const cached = new WeakMap<ClientConnection, CachedStanding>();
  const headers = requestHeaderReader(options);

  function standing(connection: ClientConnection): CachedStanding {
    const clientCa = options.clientCa();
    const requestHeaderCa = options.requestHeaderCa();
    const nowMs = options.clock.nowMs();
    const before = cached.get(connection);
    const current = before?.clientCa === clientCa && before.requestHeaderCa === requestHeaderCa;
    if (before && current && nowMs <= before.goodUntilMs) return before;
    const chain = (current && before.refusedChain) || new ClientChain(connection.certificateChain);
    const found = standingOf(chain, connection.certificateChain[0]!, {
      clientCa,
      requestHeaderCa,
      allowedNames: options.allowedNames,
      nowMs,
    });
    const accepted = found.user !== undefined || found.frontProxy;
    const now: CachedStanding = {
      clientCa,
      requestHeaderCa,
      refusedChain: accepted ? undefined : chain,
      standing: found,
      user: found.user && { identity: found.user, peerProxied: false, trustedProxy: found.frontProxy },
      goodUntilMs: accepted ? found.notAfterMs : nowMs + REFUSAL_KEPT_MS,
    };
    cached.set(connection, now);
    return now;
  }

  function carried(exchange: Exchange, credential: string | undefined): Identity {
    const flow = credential === undefined ? undefined : options.proofs?.flowOf(credential);
    if (flow !== undefined) return { kind: 'carried', flow, proven: true };
    return {
      kind: 'carried',
      flow: `unauthenticated@${addressBlock(exchange.connection.remoteAddress)}`,
      proven: false,
    };
  }

  return function authenticate(exchange) {
    if (exchange.connection.certificateChain.length === 0) {
      return { identity: carried(exchange, bearerCredential(exchange)), peerProxied: false, trustedProxy: false };
    }
    const { standing: found, user } = standing(exchange.connection);
    if (found.frontProxy) {
      const peerProxied = headerValue(exchange.headers, 'x-kubernetes-peer-proxied') === 'true';
      const named = identityFromHeaders(exchange.headers, headers);
      if (named) return { identity: named, peerProxied, trustedProxy: true };
      const credential = bearerCredential(exchange);
      // One CA may be in both bundles. The caller behind the proxy must then not get the identity
      // of the proxy.
      if (!user || peerProxied || credential) {
        return { identity: carried(exchange, credential), peerProxied, trustedProxy: true };
      }
    }
    if (user) return user;
    const credential = bearerCredential(exchange);
    if (found.refusal !== undefined && !credential) throw unauthorized(found.refusal);
    return { identity: carried(exchange, credential), peerProxied: false, trustedProxy: false };
  };
}

function unauthorized(why: string): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', {
    causes: [{ reason: 'CertificateRejected', message: `client certificate: ${why}` }],
  });
}

import { addressBlock } from '../../http/address-block.js';
import type { Authenticate } from '../../http/authenticate.js';
import { bearerCredential } from '../../http/bearer.js';
import type { Exchange } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import type { Identity } from '../../http/identity.js';
import { StatusError } from '../../kube/status-error.js';
import type { ConnectionStandings } from './connection-standings.js';
import type { CredentialProofs } from './credential-proofs.js';
import { identityFromHeaders, type RequestHeaderNames, requestHeaderReader } from './request-header.js';

export type { Authenticate } from '../../http/authenticate.js';

export interface AuthenticatorOptions extends Partial<RequestHeaderNames> {
  readonly standings: ConnectionStandings;
  /** Tokens that API servers have accepted; without it every token is unproven. */
  readonly proofs?: CredentialProofs;
}

/**
 * Identifies the caller in the order of kube-apiserver: identity headers of a front proxy, then the
 * client certificate, then credentials in the request. Only the API server can verify the latter,
 * so they are forwarded.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const headers = requestHeaderReader(options);

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
    const { standing: found, user } = options.standings.of(exchange.connection);
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

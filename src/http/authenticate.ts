import type { Exchange } from './exchange.js';
import type { Identity } from './identity.js';

export interface Authenticated {
  readonly identity: Identity;
  /** A verified front proxy marked the request as rerouted by a peer. */
  readonly peerProxied: boolean;
  /** The connection is from a verified front proxy, whose forwarding headers are trusted. */
  readonly trustedProxy: boolean;
}

/** Throws StatusError (Unauthorized). */
export type Authenticate = (exchange: Exchange) => Authenticated;

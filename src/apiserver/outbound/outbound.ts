import type { WholeReply } from '../../http/whole-reply.js';

/** Calls to servers that users name: webhooks, aggregated API servers. */
export interface Outbound {
  /** Rejects with an Error that has kube-apiserver's message. Replies are bounded in size. */
  call(target: OutboundTarget, request: OutboundRequest): Promise<OutboundAnswer>;
}

/** The address and TLS settings of a server. */
export interface OutboundTarget {
  /** host:port to dial, an IPv6 host in brackets. */
  readonly address: string;
  /** The name that the certificate must have. */
  readonly serverName: string;
  /** PEM; undefined for the public authorities. */
  readonly caBundle: string | undefined;
  readonly insecureSkipVerify?: boolean;
}

export interface OutboundRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  readonly timeoutMs: number;
}

export type OutboundAnswer = WholeReply;

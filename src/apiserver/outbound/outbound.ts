/** Calls to servers that users name: webhooks, aggregated API servers. Injected, because this folder opens no sockets. */
export interface Outbound {
  /** Rejects with an Error whose message has kube-apiserver's words. Bodies are bounded by the callee. */
  call(target: OutboundTarget, request: OutboundRequest): Promise<OutboundAnswer>;
}

/** Where to: a URL, or a service of the cluster. */
export interface OutboundTarget {
  /** host:port to connect to. */
  readonly address: string;
  /** The name that the certificate must carry. */
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

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** One load of requests that are all the same. */
export interface Order {
  /** Of the server, without a path. */
  readonly url: string;
  readonly caFile: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Posted where there is one. */
  readonly bodyFile?: string;
  readonly connections: number;
  /** At once on each connection; over HTTP/1.1 as many connections more. */
  readonly streams: number;
  readonly requests: number;
  readonly expected: Expected;
}

/** Expected reply. The bytes are those of the body on the wire, or a range of them. */
export interface Expected {
  readonly status: number;
  readonly bytesMin: number;
  readonly bytesMax: number;
}

export interface Load {
  /** That were answered. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly meanMs: number;
}

/** Rejects if replies were wrong, however fast. */
export function requireRight(
  order: Order,
  answered: { readonly right: number; readonly bytes: number; readonly told: string },
): void {
  const { status, bytesMin, bytesMax } = order.expected;
  const what = `${order.bodyFile === undefined ? 'GET' : 'POST'} ${order.url}${order.path}`;
  if (answered.right !== order.requests) {
    throw new Error(`${what}: ${answered.right} of ${order.requests} answers were a ${status}:\n${answered.told}`);
  }
  const each = answered.bytes / order.requests;
  if (each < bytesMin || each > bytesMax) {
    throw new Error(`${what}: bodies of ${each} bytes, not of ${bytesMin}–${bytesMax}:\n${answered.told}`);
  }
}

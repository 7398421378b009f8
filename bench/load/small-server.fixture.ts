import { mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, servingHosts } from '../../test/real/rig/pki.js';
import type { Order } from './order.js';

const ADDRESS = '127.0.0.1';
export const BODY = 'x'.repeat(1_000);

export interface SmallServer {
  readonly dir: string;
  readonly url: string;
  readonly caFile: string;
  /** Requests by protocol and method so far, such as `2.0 GET`. */
  readonly asked: ReadonlyMap<string, number>;
  /** Total of all bodies posted. */
  readonly postedBytes: number;
  close(): Promise<void>;
}

/** HTTP/2 and HTTP/1.1 over TLS: `/right` answers `BODY`, `/short` one byte less, everything else 503. */
export async function startSmallServer(): Promise<SmallServer> {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-bench-test-'));
  const ca = createAuthority(dir, 'ca', 'bench-ca');
  const serving = ca.issue('serving', { commonName: 'bench', hosts: servingHosts(ADDRESS) });
  const asked = new Map<string, number>();
  let postedBytes = 0;
  const answer = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    const kind = `${request.httpVersion} ${request.method}`;
    asked.set(kind, (asked.get(kind) ?? 0) + 1);
    request.on('data', (chunk: Buffer) => {
      postedBytes += chunk.length;
    });
    request.once('end', () => {
      const bodies: Readonly<Record<string, string>> = { '/right': BODY, '/short': BODY.slice(1) };
      const body = bodies[request.url];
      response.writeHead(body === undefined ? 503 : 200, { 'content-type': 'text/plain' });
      response.end(body ?? 'out of order');
    });
  };
  const server = createSecureServer({ key: serving.keyPem, cert: serving.certPem, allowHTTP1: true }, answer);
  const sockets = new Set<{ destroy(): void }>();
  server.on('secureConnection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, ADDRESS, resolve));
  return {
    dir,
    url: `https://${ADDRESS}:${(server.address() as AddressInfo).port}`,
    caFile: ca.certFile,
    asked,
    get postedBytes() {
      return postedBytes;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export function orderOf({ url, caFile }: SmallServer, more: Partial<Order> = {}): Order {
  return {
    url,
    caFile,
    path: '/right',
    headers: { authorization: 'Bearer someone' },
    connections: 3,
    streams: 2,
    requests: 200,
    expected: { status: 200, bytesMin: BODY.length, bytesMax: BODY.length },
    ...more,
  };
}

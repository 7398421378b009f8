import { createServer } from 'node:net';

/** A port that is free now. Another process may take it before it is used; on private loopback addresses none does. */
export function freePort(address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, address, () => {
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
      server.close(() => resolve(port));
    });
  });
}

import { type AddressInfo, createServer, type Server } from 'node:net';

/** Ports that nobody listens on. All are held until the last is found, so no two are the same. */
export async function freePorts(count: number, host: string): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => listen(host)));
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listen(host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, host, () => resolve(server));
  });
}

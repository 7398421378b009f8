import { createServer } from 'node:net';

/** That many free ports in a row; the first of them. */
export async function freePorts(count: number): Promise<number> {
  for (let first = 20_000 + Math.floor(Math.random() * 20_000); ; first += count) {
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)));
    if (free.every(Boolean)) return first;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

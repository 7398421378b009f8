import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from './pki.js';

/** Something that stands where a peer should be and answers every request with the same body. */
export interface OddPeer {
  readonly url: string;
  readonly requests: () => number;
  close(): Promise<void>;
}

export async function startOddPeer(address: string, serving: KeyPair, body: string): Promise<OddPeer> {
  let requests = 0;
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (_, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    url: `https://${address}:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

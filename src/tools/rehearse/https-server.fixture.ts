import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCa, makeClient, makeServer } from '../../http/tls/pki.fixture.js';
import type { ApiAccess } from './rehearsal-plane.js';

const CA = makeCa('ca');
const SERVER = makeServer(CA);
const ADMIN = makeClient(CA, { cn: 'admin' });

/** Starts an HTTPS server on a free port and returns the access of a client with the certificate of `admin`. */
export async function startHttpsServer(answer: RequestListener): Promise<{ access: ApiAccess; close: () => void }> {
  const server = createServer({ cert: SERVER.pem, key: SERVER.keyPem, ca: CA.pem, requestCert: true }, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    access: { url, caPem: CA.pem, certPem: ADMIN.pem, keyPem: ADMIN.keyPem },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

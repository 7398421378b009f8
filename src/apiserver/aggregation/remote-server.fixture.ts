import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from '../../http/tls/pki.fixture.js';
import type { Json } from '../../kube/json.js';

export const LEGACY_LIST: Json = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'wardle.example.com/v1',
  resources: [
    {
      name: 'flunders',
      singularName: 'flunder',
      namespaced: true,
      kind: 'Flunder',
      verbs: ['create', 'get', 'list'],
      shortNames: ['fl'],
    },
    { name: 'flunders/status', singularName: '', namespaced: true, kind: 'Flunder', verbs: ['get', 'update'] },
    {
      name: 'fischers',
      singularName: 'fischer',
      namespaced: false,
      kind: 'Fischer',
      verbs: ['get'],
      categories: ['all'],
    },
  ],
};

export interface RemoteServer {
  readonly port: number;
  readonly requests: IncomingMessage[];
  readonly http: Server;
  close(): Promise<void>;
}

/** An aggregated API server of `wardle.example.com/v1` with legacy discovery, and whatever else a test answers. */
export async function startRemoteServer(
  certificate: TestCertificate,
  answer: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<RemoteServer> {
  const requests: IncomingMessage[] = [];
  const options = { cert: certificate.pem, key: certificate.keyPem, requestCert: true, rejectUnauthorized: false };
  const http = createServer(options, (request, response) => {
    requests.push(request);
    response.on('error', () => {});
    if (answer(request, response)) return;
    const isVersion = request.url === '/apis/wardle.example.com/v1';
    sendJson(
      response,
      isVersion ? 200 : 404,
      isVersion ? LEGACY_LIST : { kind: 'Status', status: 'Failure', code: 404 },
    );
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    port: (http.address() as AddressInfo).port,
    requests,
    http,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

export function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

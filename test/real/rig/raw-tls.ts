import { connect } from 'node:tls';
import type { Endpoint } from './http-client.js';

const QUIET_MS = 700;
const TIMEOUT_MS = 10_000;

/** Sends these very bytes over TLS and answers all that comes back until the server closes or has been quiet. */
export function sendRaw(endpoint: Endpoint, bytes: string | Buffer): Promise<string> {
  const url = new URL(endpoint.url);
  const socket = connect({
    host: url.hostname,
    port: Number(url.port),
    ca: endpoint.ca,
    servername: 'kubernetes.default.svc',
    ALPNProtocols: ['http/1.1'],
    ...(endpoint.clientCert && { cert: endpoint.clientCert.certPem, key: endpoint.clientCert.keyPem }),
  });
  return new Promise((resolve) => {
    let answer = '';
    const finish = (): void => {
      clearTimeout(late);
      socket.destroy();
      resolve(answer);
    };
    const late = setTimeout(finish, TIMEOUT_MS);
    socket.once('secureConnect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      socket.setTimeout(QUIET_MS, finish);
    });
    socket.once('error', finish);
    socket.once('close', finish);
  });
}

/** The status codes of all responses in what came back. */
export function statusesIn(answer: string): number[] {
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, code]) => Number(code));
}

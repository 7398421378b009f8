import { connect as connectTcp, createServer as createTcp, type Server } from 'node:net';
import { connect, createServer, type Server as TlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { describeSocketError, socketErrorType } from './socket-error.js';
import { makeCa, makeServer, type TestCertificate } from './tls/pki.fixture.js';

const CA = makeCa('ca');

const closings: (() => unknown)[] = [];
afterEach(() => {
  for (const each of closings.splice(0).reverse()) each();
});

async function listening(server: Server | TlsServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closings.push(() => server.close());
  return (server.address() as { port: number }).port;
}

/** The error of a TLS client at a server with this certificate. */
async function tlsError(server: TestCertificate, servername: string, ca = CA): Promise<Error> {
  const port = await listening(createServer({ cert: server.pem, key: server.keyPem }).on('tlsClientError', () => {}));
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, ca: ca.pem });
    socket.on('error', resolve);
    socket.on('secureConnect', () => reject(new Error('the handshake succeeded')));
    closings.push(() => socket.destroy());
  });
}

function described(error: Error): [type: string, words: string] {
  return [socketErrorType(error), describeSocketError(error)];
}

describe('an error of a socket', () => {
  it('has type connect and "connection refused" where nothing listens', async () => {
    const server = createTcp();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const error = await new Promise<Error>((resolve) => connectTcp(port, '127.0.0.1').on('error', resolve));
    expect(described(error)).toEqual(['connect', 'connection refused']);
  });

  it('has type reset and "connection reset by peer" where the server resets', async () => {
    const port = await listening(createTcp((socket) => socket.once('data', () => socket.resetAndDestroy())));
    const error = await new Promise<Error>((resolve) =>
      connectTcp(port, '127.0.0.1').on('error', resolve).write('hello'),
    );
    expect(described(error)).toEqual(['reset', 'connection reset by peer']);
  });

  it('has type tls and "certificate has expired" for an expired certificate', async () => {
    const past = makeServer(CA, { notBefore: new Date(0), notAfter: new Date(1e12) });
    expect(described(await tlsError(past, 'localhost'))).toEqual(['tls', 'certificate has expired']);
  });

  it('has type tls and "certificate signed by unknown authority" for a certificate of another authority', async () => {
    const [type, words] = described(await tlsError(makeServer(CA), 'localhost', makeCa('other')));
    expect(type).toBe('tls');
    expect(words).toMatch(/^certificate signed by unknown authority: /);
  });

  it('has type tls and the names of the certificate where it is for other names', async () => {
    const [type, words] = described(await tlsError(makeServer(CA), 'elsewhere.example'));
    expect(type).toBe('tls');
    expect(words).toMatch(/^certificate is not valid for this name: .*DNS:localhost/);
  });

  it('contains every address that was tried, and has the type of the last attempt', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1:1'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    const late = Object.assign(new Error('connect ETIMEDOUT 10.0.0.1:1'), { code: 'ETIMEDOUT', syscall: 'connect' });
    const both = new AggregateError([refused, late]);
    expect(described(both)).toEqual(['timeout', 'connection refused; connection timeout']);
  });

  it('keeps the message of an unknown error, and the code of one without a message', () => {
    expect(described(new Error('odd'))).toEqual(['transport', 'odd']);
    expect(described(Object.assign(new Error(''), { code: 'EODD' }))).toEqual(['transport', 'EODD']);
    expect(described(Object.assign(new Error('x'), { code: 'toString' }))).toEqual(['transport', 'x']);
  });
});

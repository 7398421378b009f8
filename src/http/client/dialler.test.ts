import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import type { ConnectionTls } from '../tls/connection-tls.js';
import { makeServer } from '../tls/pki.fixture.js';
import { ca, closedAddress, serveScript, serveTcp, tls } from '../tls/tls-server.fixture.js';
import { Dialler } from './dialler.js';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function diallerTo(address: string, tlsChanges: Partial<ConnectionTls> = {}, timeoutMs = 3_000): Dialler {
  return new Dialler({ address, tls: { ...tls, ...tlsChanges }, timeoutMs, protocols: ['http/1.1'], reach: undefined });
}

async function open(dialler: Dialler): Promise<TLSSocket> {
  const socket = await dialler.open();
  cleanUps.push(() => socket.destroy());
  return socket;
}

async function script() {
  const server = await serveScript((socket) => socket.write('x'));
  cleanUps.push(server.close);
  return server;
}

it('Dialler offers the given ALPN protocols', async () => {
  const server = await script();
  expect((await open(diallerTo(server.address))).alpnProtocol).toBe('http/1.1');
});

it('Dialler resumes the TLS session of its previous connection', async () => {
  const server = await script();
  const dialler = diallerTo(server.address);
  const first = await open(dialler);
  expect(first.isSessionReused()).toBe(false);
  const session = once(first, 'session');
  first.resume().write('x');
  await session;
  const second = await open(dialler);
  expect(second.isSessionReused()).toBe(true);
  expect((await open(diallerTo(server.address))).isSessionReused()).toBe(false);
});

it('Dialler sends servername as SNI, else the dialled host name, and never an IP address', async () => {
  const server = await script();
  const port = server.address.split(':')[1];
  const announced = async (address: string, servername: string | undefined) => {
    await open(diallerTo(address, { servername, insecureSkipVerify: true }));
    await until(() => server.sockets.length > 0, 'connection');
    return server.sockets.pop()!.servername;
  };
  expect(await announced(server.address, 'kubernetes.default.svc')).toBe('kubernetes.default.svc');
  expect(await announced(`localhost:${port}`, undefined)).toBe('localhost');
  expect(await announced(server.address, undefined)).toBe(false);
});

it('Dialler verifies the IP address against the certificate if it sends no SNI', async () => {
  const { pem, keyPem } = makeServer(ca, { dnsNames: [], ipAddresses: ['127.0.0.1'] });
  const listener = createServer({ cert: pem, key: keyPem }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  cleanUps.push(() => listener.close());
  const address = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  await open(diallerTo(address, { servername: undefined }));
  const named = await script();
  await expect(diallerTo(named.address, { servername: undefined }).open()).rejects.toMatchObject({
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
});

it('Dialler accepts an IPv6 address in brackets', async () => {
  const port = (await closedAddress()).split(':')[1];
  await expect(diallerTo(`[::1]:${port}`).open()).rejects.toMatchObject({ address: '::1', port: Number(port) });
});

it('Dialler fails with ETIMEDOUT if the TLS handshake is not complete in time', async () => {
  const silent = await serveTcp((socket) => socket.resume());
  cleanUps.push(silent.close);
  await expect(diallerTo(silent.address, {}, 30).open()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  await until(() => silent.connections.size === 0, 'close');
});

it('Dialler calls neither opened nor failed after cancel()', async () => {
  const server = await script();
  const heard: unknown[] = [];
  const note = (it: unknown) => heard.push(it);
  const dialling = diallerTo(server.address).dial({ opened: note, failed: note });
  await until(() => server.connections.size === 1, 'connection');
  dialling.cancel();
  await until(() => server.connections.size === 0, 'close');
  expect(heard).toEqual([]);
});

it('Dialler fails for a client certificate that cannot be parsed', async () => {
  await expect(diallerTo('127.0.0.1:1', { cert: 'x', key: 'y' }).open()).rejects.toThrow();
});

import { once } from 'node:events';
import { type AddressInfo, isIP } from 'node:net';
import { type ConnectionOptions, connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ConnectionTls, clientTlsOptions, serverTlsOptions } from './connection-tls.js';
import { makeCa, makeClient, makeIntermediate, makeServer, type TestCertificate } from './pki.fixture.js';

const ca = makeCa('control-plane');
const stranger = makeCa('someone-else');
const byName = makeServer(ca, { dnsNames: ['kubernetes.default.svc'], ipAddresses: [] });
const byAddress = makeServer(ca, { dnsNames: [], ipAddresses: ['127.0.0.1'] });
const client = makeClient(ca, { cn: 'front-proxy-client' });

/** Connects to a listener with `server` as its certificate; returns both ends. */
async function handshake(server: TestCertificate, tls: ConnectionTls) {
  const options = serverTlsOptions({ cert: server.pem, key: server.keyPem, clientCas: [ca.pem] });
  const listener = createServer(options).listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  const host = '127.0.0.1';
  const { port } = listener.address() as AddressInfo;
  const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
  const socket = connect({ ...clientTlsOptions(host, tls), host, port, ALPNProtocols: ['http/1.1'] });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return { socket, accepted: (await accepted)[0] };
}

/** A certificate for one name or address. */
function certificateFor(name: string): PeerCertificate {
  const names = isIP(name) === 0 ? { dnsNames: [name], ipAddresses: [] } : { dnsNames: [], ipAddresses: [name] };
  return makeServer(ca, names).x509.toLegacyObject() as PeerCertificate;
}

/** The verdict about a certificate for that name. */
function verdict({ checkServerIdentity }: ConnectionOptions, name: string): string | undefined {
  return (checkServerIdentity!('ignored', certificateFor(name)) as NodeJS.ErrnoException | undefined)?.code;
}

describe('clientTlsOptions: name of the server', () => {
  it.each([
    { host: 'api.example', sni: 'api.example', san: 'api.example' },
    { host: '10.0.0.1', sni: '', san: '10.0.0.1' },
    { host: 'fd00::1', sni: '', san: 'fd00:0:0::1' },
  ])('is the dialled host $host without a servername, with "$sni" as SNI', ({ host, sni, san }) => {
    const options = clientTlsOptions(host, {});
    expect(options.servername).toBe(sni);
    expect(verdict(options, san)).toBeUndefined();
    expect(verdict(options, 'other.example')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it.each([
    { servername: 'kubernetes.default.svc', sni: 'kubernetes.default.svc', san: 'kubernetes.default.svc' },
    { servername: '10.0.0.2', sni: '', san: '10.0.0.2' },
    { servername: 'fd00::2', sni: '', san: 'fd00:0:0::2' },
  ])('is the servername $servername instead of the dialled host, with "$sni" as SNI', ({ servername, sni, san }) => {
    const options = clientTlsOptions('10.0.0.1', { servername });
    expect(options.servername).toBe(sni);
    expect(verdict(options, san)).toBeUndefined();
    expect(verdict(options, '10.0.0.1')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('may be any of otherNames, and the error is that of the first of them', () => {
    const options = clientTlsOptions('10.0.0.1', { servername: 'kubernetes.default.svc', otherNames: ['10.0.0.1'] });
    expect(verdict(options, 'kubernetes.default.svc')).toBeUndefined();
    expect(verdict(options, '10.0.0.1')).toBeUndefined();
    expect(options.checkServerIdentity!('', certificateFor('x'))?.message).toContain('10.0.0.1');
  });
});

describe('clientTlsOptions: handshake', () => {
  const intermediate = makeIntermediate(ca, 'intermediate');
  const below = makeServer(intermediate, { dnsNames: ['kubernetes.default.svc'] });
  it.each([
    ['the certificate of the server itself', byName, byName.pem],
    ['an intermediate authority without its root', below, intermediate.pem],
  ])('trusts a CA bundle that has only %s, as clients written in Go do', async (_, server, bundle) => {
    const servername = 'kubernetes.default.svc';
    const { socket } = await handshake(server, { ca: bundle, servername });
    expect(socket.authorized).toBe(true);
    await expect(handshake(server, { ca: bundle, servername: 'other.example' })).rejects.toThrow('altnames');
    await expect(handshake(server, { ca: stranger.pem, servername })).rejects.toThrow();
  });

  it('verifies the certificate with the CA bundle and the servername, which is sent as SNI', async () => {
    const { socket, accepted } = await handshake(byName, { ca: ca.pem, servername: 'kubernetes.default.svc' });
    expect(socket.authorized).toBe(true);
    expect(accepted.servername).toBe('kubernetes.default.svc');
  });

  it('verifies the dialled IP address without SNI if there is no servername', async () => {
    const { accepted } = await handshake(byAddress, { ca: ca.pem });
    expect(accepted.servername).toBe(false);
    await expect(handshake(byName, { ca: ca.pem })).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('accepts a certificate of any CA of the bundle and of no other CA', async () => {
    await handshake(byAddress, { ca: stranger.pem + ca.pem });
    // The listener sends its client CA, which issued the certificate, as part of the chain.
    const code = 'SELF_SIGNED_CERT_IN_CHAIN';
    await expect(handshake(byAddress, { ca: stranger.pem })).rejects.toMatchObject({ code });
    await expect(handshake(byAddress, {})).rejects.toMatchObject({ code });
  });

  it('presents the client certificate, and none without cert', async () => {
    const known = await handshake(byAddress, { ca: ca.pem, cert: client.pem, key: client.keyPem });
    expect(known.accepted.getPeerCertificate().subject.CN).toBe('front-proxy-client');
    expect(known.accepted.authorized).toBe(true);
    const unknown = await handshake(byAddress, { ca: ca.pem, key: client.keyPem });
    expect(unknown.accepted.getPeerCertificate()).toEqual({});
  });

  it('reports a certificate that fails verification instead of refusing it with insecureSkipVerify', async () => {
    const { socket } = await handshake(byName, { ca: stranger.pem, insecureSkipVerify: true });
    expect(socket.authorized).toBe(false);
    expect(clientTlsOptions('h', {}).rejectUnauthorized).toBeUndefined();
    expect(clientTlsOptions('h', { insecureSkipVerify: false }).rejectUnauthorized).toBeUndefined();
  });
});

describe('serverTlsOptions', () => {
  it('accepts a client certificate of an unknown CA in the handshake; the filters verify it', async () => {
    const { pem, keyPem } = makeClient(stranger, { cn: 'unknown' });
    const { accepted } = await handshake(byAddress, { ca: ca.pem, cert: pem, key: keyPem });
    expect(accepted.authorized).toBe(false);
    expect(accepted.getPeerCertificate().subject.CN).toBe('unknown');
  });

  it('requires TLS 1.2 and asks for client certificates', () => {
    expect(serverTlsOptions({ cert: '', key: '', clientCas: ['a', 'b'] })).toMatchObject({
      minVersion: 'TLSv1.2',
      requestCert: true,
      ca: ['a', 'b'],
    });
  });
});

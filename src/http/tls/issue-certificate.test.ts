import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readCertificate } from './certificate.js';
import { IssueError, issueAuthority, issueCertificate } from './issue-certificate.js';
import { addressOctets } from './issue-certificate-der.js';
import { makeCa } from './pki.fixture.js';

const authority = issueAuthority({ commonName: 'straddle', days: 3650 });

describe('issueAuthority', () => {
  it('makes a self-signed authority', () => {
    const x509 = new X509Certificate(authority.certPem);
    expect(x509.verify(x509.publicKey)).toBe(true);
    expect(x509.checkIssued(x509)).toBe(true);
    expect(x509.ca).toBe(true);
    expect(x509.subject).toBe('CN=straddle');
    expect(readCertificate(x509.raw)).toMatchObject({ isCa: true, maySignCertificates: true, version: 3 });
  });

  it('issues a certificate valid for the requested days, from an hour ago for slow clocks', () => {
    const nowMs = Date.UTC(2049, 11, 31, 12);
    const x509 = new X509Certificate(issueAuthority({ commonName: 'late', days: 2, nowMs }).certPem);
    expect(Date.parse(x509.validFrom)).toBe(nowMs - 3_600_000);
    expect(Date.parse(x509.validTo)).toBe(nowMs + 2 * 86_400_000);
  });

  it('never repeats a serial number', () => {
    const serials = Array.from({ length: 20 }, () => {
      const made = issueCertificate(authority, { commonName: 'x', usage: 'client', days: 1 });
      return new X509Certificate(made.certPem).serialNumber;
    });
    expect(new Set(serials).size).toBe(20);
    expect(serials.every((serial) => /^[0-9A-F]{32}$/.test(serial))).toBe(true);
  });
});

describe('issueCertificate', () => {
  const server = issueCertificate(authority, {
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes.default.svc', '*.nodes.example.test'],
    ipAddresses: ['127.0.0.1', '::1', '2001:db8::a:0:1'],
    usage: 'server',
    days: 365,
  });

  it('signs a leaf that names hosts and addresses', () => {
    const x509 = new X509Certificate(server.certPem);
    const ca = new X509Certificate(authority.certPem);
    expect(x509.verify(ca.publicKey)).toBe(true);
    expect(x509.checkIssued(ca)).toBe(true);
    expect(x509.ca).toBe(false);
    expect(x509.checkHost('kubernetes.default.svc')).toBeDefined();
    expect(x509.checkHost('a.nodes.example.test')).toBeDefined();
    expect(x509.checkHost('kubernetes')).toBeUndefined();
    expect(x509.checkIP('127.0.0.1')).toBeDefined();
    expect(x509.checkIP('::1')).toBeDefined();
    expect(x509.checkIP('2001:db8:0:0:0:a:0:1')).toBeDefined();
    expect(x509.checkIP('127.0.0.2')).toBeUndefined();
    expect(readCertificate(x509.raw)).toMatchObject({
      extendedKeyUsages: ['1.3.6.1.5.5.7.3.1'],
      isCa: false,
      maySignCertificates: false,
      hasAlternativeNames: true,
      signatureIsStrong: true,
      unknownCritical: undefined,
    });
  });

  it('puts groups of a client into organizations, in order', () => {
    const made = issueCertificate(authority, {
      commonName: 'alice Ä',
      organizations: ['system:masters', 'dev'],
      usage: 'client',
      days: 1,
    });
    const { subject, extendedKeyUsages } = readCertificate(new X509Certificate(made.certPem).raw);
    expect(subject.map(({ value }) => value)).toEqual(['system:masters', 'dev', 'alice Ä']);
    expect(extendedKeyUsages).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it('issues certificates that both ends of a TLS connection accept', async () => {
    const client = issueCertificate(authority, { commonName: 'alice', usage: 'both', days: 1 });
    const listener = tls.createServer({
      cert: server.certPem,
      key: server.keyPem,
      ca: authority.certPem,
      requestCert: true,
      rejectUnauthorized: true,
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
    const socket = tls.connect({
      host: '127.0.0.1',
      port: (listener.address() as AddressInfo).port,
      servername: 'localhost',
      ca: authority.certPem,
      cert: client.certPem,
      key: client.keyPem,
    });
    try {
      await once(socket, 'secureConnect');
      const [peer] = await accepted;
      expect(socket.authorized).toBe(true);
      expect(peer.authorized).toBe(true);
      expect(peer.getPeerCertificate().subject.CN).toBe('alice');
      peer.destroy();
    } finally {
      socket.destroy();
      listener.close();
    }
  });

  it('signs with an authority made by another program, with or without a key identifier', () => {
    const foreign = makeCa('foreign');
    const made = issueCertificate(
      { certPem: foreign.pem, keyPem: foreign.keyPem },
      { commonName: 'x', usage: 'client', days: 1 },
    );
    const x509 = new X509Certificate(made.certPem);
    expect(x509.verify(foreign.x509.publicKey)).toBe(true);
    expect(x509.checkIssued(foreign.x509)).toBe(true);
  });

  it('refuses an issuer that is not a CA, and a key that does not belong to the CA certificate', () => {
    const request = { commonName: 'x', usage: 'client', days: 1 } as const;
    expect(() => issueCertificate(server, request)).toThrow(IssueError);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    expect(() => issueCertificate({ certPem: authority.certPem, keyPem }, request)).toThrow(IssueError);
  });

  it.each(['not an address', '1.2.3', 'fe80::1%eth0'])('refuses %j as an IP address', (address) => {
    const request = { commonName: 'x', usage: 'server', days: 1, ipAddresses: [address] } as const;
    expect(() => issueCertificate(authority, request)).toThrow(IssueError);
  });
});

describe('addressOctets', () => {
  it.each([
    ['10.0.0.255', '0a0000ff'],
    ['::', '00000000000000000000000000000000'],
    ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['2001:db8::', '20010db8000000000000000000000000'],
  ])('returns the octets of %s', (address, hex) => {
    expect(addressOctets(address)?.toString('hex')).toBe(hex);
  });
});

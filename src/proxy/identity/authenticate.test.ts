import { createHash, X509Certificate } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { type ClientConnection, Exchange } from '../../http/exchange.js';
import { flowOf } from '../../http/identity.js';
import { makeCa, makeClient, OID, type TestCertificate } from '../../http/tls/pki.fixture.js';
import { createAuthenticator } from './authenticate.js';
import { ConnectionStandings, type ConnectionStandingsOptions, REFUSAL_KEPT_MS } from './connection-standings.js';
import type { RequestHeaderNames } from './request-header.js';

const clientCa = makeCa('kubernetes');
const proxyCa = makeCa('front-proxy-ca');
const jane = makeClient(clientCa, { cn: 'jane', organizations: ['dev', 'ops'] });
const proxy = makeClient(proxyCa, { cn: 'front-proxy-client' });
const DAY_MS = 86_400_000;

function setup(options: Partial<ConnectionStandingsOptions & RequestHeaderNames> = {}) {
  const clock = new ManualClock(Date.now());
  const client = [clientCa.x509];
  const requestHeader = [proxyCa.x509];
  const standings = new ConnectionStandings({
    clientCa: () => client,
    requestHeaderCa: () => requestHeader,
    allowedNames: ['front-proxy-client'],
    clock,
    ...options,
  });
  return { clock, standings, authenticate: createAuthenticator({ ...options, standings }) };
}

function connect(...chain: readonly TestCertificate[]): ClientConnection {
  return { remoteAddress: '127.0.0.9', certificateChain: chain.map(({ der }) => der) };
}

function request(connection: ClientConnection, headers: readonly string[] = [], upgrade = false): Exchange {
  return new Exchange({ method: 'GET', target: '/', headers, body: null, connection, upgrade }, 0);
}

const refusedBecause = (message: RegExp) =>
  expect.objectContaining({
    status: expect.objectContaining({
      code: 401,
      message: 'Unauthorized',
      details: { causes: [{ reason: 'CertificateRejected', message: expect.stringMatching(message) }] },
    }),
  });

const SPOOFED = ['X-Remote-User', 'root', 'X-Remote-Group', 'system:masters', 'x-kubernetes-peer-proxied', 'true'];

describe('authenticate', () => {
  it('derives user and credential id from a certificate of the client CA', () => {
    const { authenticate } = setup();
    const fingerprint = createHash('sha256').update(jane.der).digest('hex');
    expect(authenticate(request(connect(jane)))).toEqual({
      identity: {
        kind: 'established',
        user: 'jane',
        uid: '',
        groups: ['dev', 'ops'],
        extra: new Map([['authentication.kubernetes.io/credential-id', [`X509SHA256=${fingerprint}`]]]),
      },
      peerProxied: false,
      trustedProxy: false,
    });
  });

  it('trusts a front proxy for user, uid, groups and extra', () => {
    const { authenticate } = setup();
    const headers = [
      ...['x-remote-user', 'jane', 'X-REMOTE-USER', 'second', 'X-Remote-Uid', 'u1', 'X-Remote-Group', 'dev'],
      ...['X-Remote-Group', '', 'x-remote-group', Buffer.from('zażółć').toString('latin1')],
      ...['X-Remote-Extra-Example.Com%2Fscopes', 'one', 'x-remote-extra-example.com%2fScopes', 'two'],
      ...['X-Remote-Extra-50%Off', 'kept', 'x-remote-extra-%41', 'upper', 'X-Kubernetes-Peer-Proxied', 'true'],
    ];
    expect(authenticate(request(connect(proxy), headers))).toEqual({
      identity: {
        kind: 'established',
        user: 'jane',
        uid: 'u1',
        groups: ['dev', 'zażółć'],
        extra: new Map([
          ['example.com/scopes', ['one', 'two']],
          ['50%off', ['kept']],
          ['A', ['upper']],
        ]),
      },
      peerProxied: true,
      trustedProxy: true,
    });
  });

  it('trusts only the configured identity headers', () => {
    const { authenticate } = setup({ usernameHeaders: ['X-Who', 'X-Who-Else'], extraHeaderPrefixes: ['X-More-'] });
    const { identity } = authenticate(
      request(connect(proxy), ['X-Remote-User', 'root', 'X-Who-Else', 'jane', 'x-more-a', 'b']),
    );
    expect(identity).toMatchObject({ user: 'jane', extra: new Map([['a', ['b']]]) });
  });

  it('refuses identity headers that are not UTF-8', () => {
    const { authenticate } = setup();
    expect(() => authenticate(request(connect(proxy), ['X-Remote-User', 'j\xff']))).toThrow('Unauthorized');
    expect(() => authenticate(request(connect(proxy), ['X-Remote-User', 'j', 'X-Remote-Extra-%ff', 'x']))).toThrow(
      'Unauthorized',
    );
  });

  it('ignores identity and reroute headers of other clients', () => {
    const { authenticate } = setup();
    expect(authenticate(request(connect(jane), SPOOFED))).toMatchObject({
      identity: { user: 'jane', groups: ['dev', 'ops'] },
      peerProxied: false,
      trustedProxy: false,
    });
    expect(authenticate(request(connect(), SPOOFED))).toEqual({
      identity: { kind: 'carried', flow: 'unauthenticated@127.0.0.9', proven: false },
      peerProxied: false,
      trustedProxy: false,
    });
  });

  it('does not accept a certificate of the client CA as front proxy, even with an allowed name', () => {
    const { authenticate } = setup();
    const pretender = makeClient(clientCa, { cn: 'front-proxy-client' });
    expect(authenticate(request(connect(pretender), SPOOFED))).toMatchObject({
      identity: { user: 'front-proxy-client' },
      peerProxied: false,
      trustedProxy: false,
    });
  });

  it('does not accept a certificate of the request-header CA as user', () => {
    const { authenticate } = setup();
    const pretender = makeClient(proxyCa, { cn: 'root', organizations: ['system:masters'] });
    expect(() => authenticate(request(connect(pretender)))).toThrow(
      refusedBecause(/"root" is not an allowed front proxy/),
    );
    expect(authenticate(request(connect(proxy))).identity.kind).toBe('carried');
  });

  it('does not build a chain from both CA bundles', () => {
    const { authenticate } = setup();
    expect(() => authenticate(request(connect(proxy, clientCa), ['X-Remote-User', '']))).not.toThrow();
    const forged = makeClient(makeCa('kubernetes'), { cn: 'root' });
    expect(() => authenticate(request(connect(forged, clientCa, proxyCa), SPOOFED))).toThrow(
      refusedBecause(/unknown authority/),
    );
  });

  it('accepts any name of a front proxy when no names are configured', () => {
    const { authenticate } = setup({ allowedNames: [] });
    const other = makeClient(proxyCa, { cn: 'other' });
    expect(authenticate(request(connect(other), ['X-Remote-User', 'jane']))).toMatchObject({ trustedProxy: true });
  });

  it('forwards the credentials of a request from a front proxy without identity headers', () => {
    const { authenticate } = setup();
    const found = authenticate(
      request(connect(proxy), ['Authorization', 'Bearer abc', 'x-kubernetes-peer-proxied', 'true']),
    );
    expect(found).toMatchObject({ identity: { kind: 'carried' }, peerProxied: true, trustedProxy: true });
    expect(flowOf(found.identity).group).toBe('unauthenticated');
    expect(authenticate(request(connect(proxy), ['x-kubernetes-peer-proxied', 'TRUE'])).peerProxied).toBe(false);
  });

  it('never gives a caller the identity of the front proxy when one CA is in both bundles', () => {
    const both = [clientCa.x509];
    const { authenticate } = setup({ requestHeaderCa: () => both, allowedNames: [] });
    expect(authenticate(request(connect(jane))).identity).toMatchObject({ user: 'jane' });
    expect(authenticate(request(connect(jane), ['Authorization', 'Bearer abc'])).identity.kind).toBe('carried');
    expect(authenticate(request(connect(jane), ['x-kubernetes-peer-proxied', 'true'])).identity.kind).toBe('carried');
  });

  it('prefers a verified client certificate to a token', () => {
    const { authenticate } = setup();
    expect(authenticate(request(connect(jane), ['Authorization', 'Bearer abc'])).identity).toMatchObject({
      user: 'jane',
    });
  });

  it('refuses an unverified certificate with the reason, unless the request has a token', () => {
    const { authenticate } = setup();
    const stranger = connect(makeClient(makeCa('elsewhere'), { cn: 'root' }));
    expect(() => authenticate(request(stranger))).toThrow(refusedBecause(/unknown authority/));
    expect(() => authenticate(request(stranger, ['Authorization', 'Basic abc']))).toThrow('Unauthorized');
    expect(() => authenticate(request(stranger, ['Authorization', 'Bearer  abc']))).toThrow('Unauthorized');
    expect(authenticate(request(stranger, ['authorization', 'bearer abc'])).identity.kind).toBe('carried');
    const protocols = [
      'Upgrade',
      'websocket',
      'Sec-WebSocket-Protocol',
      'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.YWJj',
    ];
    expect(authenticate(request(stranger, protocols, true)).identity.kind).toBe('carried');
    expect(() => authenticate(request(stranger, protocols))).toThrow('Unauthorized');
    const old = connect(makeClient(clientCa, { cn: 'jane', notAfter: new Date(Date.now() - DAY_MS) }));
    expect(() => authenticate(request(old))).toThrow(refusedBecause(/expired at/));
  });

  it('ignores client certificates when no CA bundle is configured', () => {
    const none: X509Certificate[] = [];
    const { authenticate } = setup({ clientCa: () => none, requestHeaderCa: () => none });
    expect(authenticate(request(connect(jane), SPOOFED))).toMatchObject({
      identity: { kind: 'carried' },
      trustedProxy: false,
    });
  });

  it.each([
    ['a line break', 'jane\r\nX-Remote-Group: system:masters', []],
    ['a NUL', 'ja\0ne', []],
    ['leading space', 'jane', [' system:masters']],
    ['a tab at the end', 'jane', ['system:masters\t']],
  ])('refuses a certificate whose subject has %s', (_, cn, organizations) => {
    const { authenticate } = setup();
    expect(() => authenticate(request(connect(makeClient(clientCa, { cn, organizations }))))).toThrow(
      refusedBecause(/no header can carry/),
    );
  });

  it('reads one uid of a subject, and refuses several or an empty one', () => {
    const { authenticate } = setup();
    const withUids = (...uids: string[]) =>
      connect(makeClient(clientCa, { subject: [[[OID.cn, 'jane']], ...uids.map((uid) => [[OID.uid, uid]] as const)] }));
    expect(authenticate(request(withUids('u1'))).identity).toMatchObject({ uid: 'u1' });
    expect(() => authenticate(request(withUids('u1', 'u2')))).toThrow(refusedBecause(/more than one uid/));
    expect(() => authenticate(request(withUids('')))).toThrow(refusedBecause(/empty uid/));
  });

  it('derives no user from a certificate without a common name', () => {
    const { authenticate } = setup();
    const nameless = connect(makeClient(clientCa, { organizations: ['system:masters'] }));
    // The request-header bundle refused it, and no bundle derived a user.
    expect(() => authenticate(request(nameless))).toThrow('Unauthorized');
    const none: X509Certificate[] = [];
    const alone = setup({ requestHeaderCa: () => none });
    expect(alone.authenticate(request(nameless)).identity.kind).toBe('carried');
  });

  it('verifies a connection once, and again when a CA bundle changes or the certificate expires', async () => {
    let bundle = [clientCa.x509];
    const { authenticate, clock } = setup({ clientCa: () => bundle });
    const brief = connect(makeClient(clientCa, { cn: 'jane', notAfter: new Date(Date.now() + DAY_MS) }));
    const first = authenticate(request(brief));
    expect(authenticate(request(brief))).toBe(first);
    bundle = [clientCa.x509, makeCa('more').x509];
    expect(authenticate(request(brief))).not.toBe(first);
    bundle = [makeCa('other').x509];
    expect(() => authenticate(request(brief))).toThrow(refusedBecause(/unknown authority/));
    bundle = [clientCa.x509];
    expect(authenticate(request(brief)).identity).toMatchObject({ user: 'jane' });
    await clock.advance(DAY_MS + 1_000);
    expect(() => authenticate(request(brief))).toThrow(refusedBecause(/expired/));
  });

  it('verifies a refused certificate again after a while', async () => {
    const { authenticate, clock } = setup();
    const early = connect(makeClient(clientCa, { cn: 'jane', notBefore: new Date(Date.now() + 5_000) }));
    expect(() => authenticate(request(early))).toThrow(refusedBecause(/not valid before/));
    await clock.advance(REFUSAL_KEPT_MS + 1);
    expect(authenticate(request(early)).identity).toMatchObject({ user: 'jane' });
  });

  it('knows whose the certificate of a connection is, for users and front proxies only', async () => {
    const { standings, clock } = setup();
    const brief = connect(makeClient(clientCa, { cn: 'jane', notAfter: new Date(Date.now() + DAY_MS) }));
    expect([connect(jane), brief, connect(proxy)].map((each) => standings.ownerOf(each))).toEqual([
      'user',
      'user',
      'front-proxy',
    ]);
    const stranger = connect(makeClient(makeCa('elsewhere'), { cn: 'root' }));
    const otherProxy = connect(makeClient(proxyCa, { cn: 'other' }));
    const nameless = connect(makeClient(clientCa, { organizations: ['dev'] }));
    for (const bad of [connect(), stranger, otherProxy, nameless]) expect(standings.ownerOf(bad)).toBeUndefined();
    await clock.advance(DAY_MS + 1_000);
    expect(standings.ownerOf(brief)).toBeUndefined();
  });

  it('repeats no signature check when it verifies a refused certificate again', async () => {
    const { authenticate, clock } = setup();
    const forged = connect(makeClient({ ...makeCa('x'), subjectDer: clientCa.subjectDer }, { cn: 'jane' }));
    const checks = vi.spyOn(X509Certificate.prototype, 'verify');
    try {
      for (let look = 0; look < 3; look++) {
        expect(() => authenticate(request(forged))).toThrow(refusedBecause(/unknown authority/));
        await clock.advance(REFUSAL_KEPT_MS + 1);
      }
      expect(checks).toHaveBeenCalledTimes(1);
    } finally {
      checks.mockRestore();
    }
  });
});

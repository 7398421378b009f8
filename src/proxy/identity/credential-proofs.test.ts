import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { ANONYMOUS, flowOf } from '../../http/identity.js';
import { bearer, exchangeFor } from '../discovery/exchange.fixture.js';
import { createAuthenticator } from './authenticate.js';
import { ConnectionStandings } from './connection-standings.js';
import { CredentialProofs, PROVEN_CREDENTIALS_MAX } from './credential-proofs.js';

const replied = (status: number) => ({ status, headers: [], body: null });

/** Judges the reply of a server to a request with a token. */
function judged(proofs: CredentialProofs, token: string, status: number, method = 'GET', routed = true): boolean {
  const exchange = exchangeFor('/api/v1/pods', { method, headers: bearer(token), identity: ANONYMOUS });
  const flow = proofs.flowOf(token);
  if (flow !== undefined) exchange.identity = { kind: 'carried', flow, proven: true };
  if (routed) exchange.routed = { to: 'local', why: 'served here' };
  return proofs.judge(exchange, replied(status));
}

function jwt(claims: object, signature: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.${signature}`;
}

function hiddenSecondToken(): string[] {
  const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('valid').toString('base64url')}`;
  return ['Upgrade', 'websocket', 'Sec-WebSocket-Protocol', `\u00c2\u0085${token}, v4.channel.k8s.io`];
}

describe('CredentialProofs', () => {
  it.each([200, 201, 304, 403])('stores a token as proven after a %d reply', (status) => {
    const proofs = new CredentialProofs();
    expect(judged(proofs, 'abc', status)).toBe(true);
    expect(proofs.flowOf('abc')).toMatch(/^token:/);
  });

  it.each([400, 401, 404, 408, 429, 500, 503])('ignores a %d reply, which may precede authentication', (status) => {
    const proofs = new CredentialProofs();
    expect(judged(proofs, 'abc', status)).toBe(false);
    expect(proofs.flowOf('abc')).toBeUndefined();
  });

  it('ignores the reply to a CORS preflight, and replies made by Straddle', () => {
    const proofs = new CredentialProofs();
    judged(proofs, 'abc', 200, 'OPTIONS');
    judged(proofs, 'abc', 200, 'GET', false);
    expect(proofs.size).toBe(0);
  });

  it.each([
    ['an octet before the scheme that only JavaScript removes', ['Authorization', '\u00a0Bearer abc']],
    ['a second token behind octets that only Go removes', ['Authorization', 'Bearer abc', ...hiddenSecondToken()]],
  ])('stores nothing after a 403 reply to a request with %s', (_, headers) => {
    const proofs = new CredentialProofs();
    const exchange = exchangeFor('/api/v1/pods', { headers, identity: ANONYMOUS, upgrade: true });
    exchange.routed = { to: 'local', why: 'served here' };
    proofs.judge(exchange, replied(403));
    expect(proofs.size).toBe(0);
  });

  it('deletes a token after a 401 reply', () => {
    const proofs = new CredentialProofs();
    judged(proofs, 'abc', 200);
    expect(judged(proofs, 'abc', 404)).toBe(true);
    expect(judged(proofs, 'abc', 401)).toBe(false);
    expect(proofs.flowOf('abc')).toBeUndefined();
  });

  it.each([
    ['bEaReR abc'],
    [' Bearer abc '],
    ['Bearer abc with more'],
    ['Bearer abc with.two.dots'],
    ['Bearer abc ', `base64url.bearer.authorization.k8s.io.${Buffer.from('abc').toString('base64url')}`],
  ])('recognises the same token in another spelling: %j', (authorization: string, protocol?: string) => {
    const proofs = new CredentialProofs();
    const headers = ['Authorization', authorization];
    const exchange = exchangeFor('/api/v1/pods', { headers, identity: ANONYMOUS, upgrade: protocol !== undefined });
    if (protocol !== undefined) headers.push('Sec-WebSocket-Protocol', protocol);
    exchange.routed = { to: 'local', why: 'served here' };
    expect(proofs.judge(exchange, replied(200))).toBe(true);
    expect(proofs.flowOf('abc')).toBeDefined();
    expect(proofs.size).toBe(1);
  });

  it('ignores a request with two tokens, of which the server may have accepted either', () => {
    const proofs = new CredentialProofs();
    const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from('accepted').toString('base64url')}`;
    const headers = ['Authorization', 'Bearer made-up', 'Sec-WebSocket-Protocol', protocol];
    const exchange = exchangeFor('/api/v1/pods', { headers, identity: ANONYMOUS, upgrade: true });
    exchange.routed = { to: 'local', why: 'served here' };
    proofs.judge(exchange, replied(101));
    proofs.judge(exchange, replied(200));
    expect(proofs.size).toBe(0);
  });

  it('ignores a subprotocol token outside of WebSocket requests, as kube-apiserver does', () => {
    const proofs = new CredentialProofs();
    const protocol = `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.YWJj`;
    const judgedWith = (upgrade: string): boolean => {
      const headers = ['Upgrade', upgrade, 'Sec-WebSocket-Protocol', protocol];
      const exchange = exchangeFor('/api/v1/pods', { headers, identity: ANONYMOUS, upgrade: true });
      exchange.routed = { to: 'local', why: 'served here' };
      return proofs.judge(exchange, replied(403));
    };
    expect(judgedWith('SPDY/3.1')).toBe(false);
    expect(proofs.size).toBe(0);
    expect(judgedWith('websocket')).toBe(true);
    expect(proofs.flowOf('abc')).toBeDefined();
  });

  it('gives all tokens of one subject the same flow', () => {
    const proofs = new CredentialProofs();
    const claims = { iss: 'https://issuer', sub: 'system:serviceaccount:a:b' };
    judged(proofs, jwt(claims, 'x'), 200);
    judged(proofs, jwt({ ...claims, jti: '2' }, 'y'), 200);
    judged(proofs, jwt({ iss: 'https://issuer', sub: 'other' }, 'z'), 200);
    const flows = [
      jwt(claims, 'x'),
      jwt({ ...claims, jti: '2' }, 'y'),
      jwt({ iss: 'https://issuer', sub: 'other' }, 'z'),
    ].map((token) => proofs.flowOf(token));
    expect(flows[0]).toBe(flows[1]);
    expect(flows[2]).not.toBe(flows[0]);
  });

  it('keeps a bounded number of tokens, the most recently used', () => {
    const proofs = new CredentialProofs();
    judged(proofs, 'used', 200);
    for (let i = 0; i < PROVEN_CREDENTIALS_MAX * 3; i++) {
      judged(proofs, `t${i}`, 200);
      if (i % 100 === 0) proofs.flowOf('used');
    }
    expect(proofs.size).toBeLessThanOrEqual(PROVEN_CREDENTIALS_MAX);
    expect(proofs.flowOf('used')).toBeDefined();
    expect(judged(proofs, 'x'.repeat(100_000), 200)).toBe(true);
    expect(proofs.flowOf('x'.repeat(100_000))).toBeUndefined();
  });

  it('gives all bearers of unproven tokens from one address the same flow', () => {
    const proofs = new CredentialProofs();
    const authenticate = createAuthenticator({
      standings: new ConnectionStandings({
        clientCa: () => [],
        requestHeaderCa: () => [],
        allowedNames: [],
        clock: new ManualClock(),
      }),
      proofs,
    });
    const groupOf = (token: string) =>
      flowOf(authenticate(exchangeFor('/api', { headers: bearer(token) })).identity).group;
    expect(groupOf('made-up-1')).toBe(groupOf('made-up-2'));
    judged(proofs, 'real', 200);
    expect(groupOf('real')).not.toBe(groupOf('made-up-1'));
    expect(proofs.size).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../http/exchange.js';
import type { Identity } from '../../http/identity.js';
import { exchangeFor, user } from '../../proxy/discovery/exchange.fixture.js';
import type { User } from '../contracts/user.js';
import { requestUser, withTokens } from './request-user.js';
import { TokenAuthenticator } from './token-authenticator.js';

const named = (name: string): User => ({ name, uid: '', groups: [], extra: new Map() });
const tokens = new TokenAuthenticator({
  apiAudiences: [],
  staticTokens: new Map([
    ['alice-token', named('alice')],
    ['bob-token', named('bob')],
  ]),
});
const WEBSOCKET = ['Connection', 'Upgrade', 'Upgrade', 'WebSocket'];

const asSubprotocol = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;

function exec(...headers: string[]): Exchange {
  return exchangeFor('/api/v1/namespaces/x/pods/p/exec', { headers, upgrade: true });
}

const userOf = (exchange: Exchange): string => requestUser(exchange, tokens).name;

/** As kube-apiserver 1.36: k8s.io/apiserver, pkg/authentication/request/bearertoken and websocket. */
describe('the user of a request to the embedded server', () => {
  it('is that of the bearer token in Authorization', () => {
    expect(userOf(exec('Authorization', 'Bearer alice-token'))).toBe('alice');
  });

  it('is anonymous where two spaces precede the token, which kube-apiserver ignores then', () => {
    expect(userOf(exec('Authorization', 'Bearer  alice-token'))).toBe('system:anonymous');
  });

  it('is that of the token among the subprotocols of a WebSocket', () => {
    const protocols = `v5.channel.k8s.io, ${asSubprotocol('alice-token')}`;
    expect(userOf(exec(...WEBSOCKET, 'Sec-WebSocket-Protocol', protocols))).toBe('alice');
  });

  it('is read from all Sec-WebSocket-Protocol fields', () => {
    const fields = [
      'Sec-WebSocket-Protocol',
      asSubprotocol('bob-token'),
      'Sec-WebSocket-Protocol',
      'v4.channel.k8s.io',
    ];
    expect(userOf(exec(...WEBSOCKET, ...fields))).toBe('bob');
  });

  it('is that of the subprotocol where the token in Authorization is unknown', () => {
    const protocols = ['Sec-WebSocket-Protocol', `v5.channel.k8s.io,${asSubprotocol('bob-token')}`];
    expect(userOf(exec(...WEBSOCKET, 'Authorization', 'Bearer unknown', ...protocols))).toBe('bob');
    expect(userOf(exec(...WEBSOCKET, 'Authorization', 'Bearer alice-token', ...protocols))).toBe('alice');
  });

  it.each([
    ['is unknown', `v5.channel.k8s.io, ${asSubprotocol('unknown')}`],
    ['is the only subprotocol', asSubprotocol('alice-token')],
    ['comes twice', `v5.channel.k8s.io, ${asSubprotocol('alice-token')}, ${asSubprotocol('alice-token')}`],
    ['is not base64url', 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.a+b/'],
    ['is padded', 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.YQ=='],
    ['is cut off', 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.YWJjZ'],
    ['is not UTF-8', 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io._w'],
  ])('is refused with 401 where the token of a WebSocket %s', (_, protocols) => {
    expect(() => userOf(exec(...WEBSOCKET, 'Sec-WebSocket-Protocol', protocols))).toThrow('Unauthorized');
  });

  it('is anonymous where the subprotocol has an empty token', () => {
    const protocols = 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.';
    expect(userOf(exec(...WEBSOCKET, 'Sec-WebSocket-Protocol', protocols))).toBe('system:anonymous');
  });

  it('is anonymous where a subprotocol has a token but the request is no WebSocket', () => {
    const fields = ['Sec-WebSocket-Protocol', `v5.channel.k8s.io, ${asSubprotocol('alice-token')}`];
    expect(userOf(exec('Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1', ...fields))).toBe('system:anonymous');
    const plain = exchangeFor('/api/v1/pods', { headers: [...WEBSOCKET, ...fields] });
    expect(userOf(plain)).toBe('system:anonymous');
  });
});

describe('authentication by connection and token', () => {
  const carried: Identity = { kind: 'carried', flow: 'unauthenticated@127.0.0.1', proven: false };
  const found = { identity: carried, peerProxied: false, trustedProxy: true };
  const authenticate = withTokens(() => found, tokens);

  it('authenticates a token in Authorization or in a WebSocket subprotocol', () => {
    const alice = { ...found, identity: { kind: 'established', user: 'alice' } };
    expect(authenticate(exec('Authorization', 'Bearer alice-token'))).toMatchObject(alice);
    const protocols = `v5.channel.k8s.io, ${asSubprotocol('alice-token')}`;
    expect(authenticate(exec(...WEBSOCKET, 'Sec-WebSocket-Protocol', protocols))).toMatchObject(alice);
  });

  it('returns the identity without a change of the exchange', () => {
    const exchange = exec('Authorization', 'Bearer alice-token');
    const before = exchange.identity;
    authenticate(exchange);
    expect(exchange.identity).toBe(before);
  });

  it('does nothing for requests without a token or with a known client certificate', () => {
    expect(authenticate(exec())).toBe(found);
    const byCertificate = { ...found, identity: user('jane') };
    const known = withTokens(() => byCertificate, tokens);
    expect(known(exec('Authorization', 'Bearer alice-token'))).toBe(byCertificate);
  });

  it('throws Unauthorized for an unknown token', () => {
    expect(() => authenticate(exec('Authorization', 'Bearer unknown'))).toThrow('Unauthorized');
  });
});

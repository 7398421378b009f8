import { describe, expect, it } from 'vitest';
import { exchangeFor } from '../proxy/discovery/exchange.fixture.js';
import {
  authorizationBearer,
  bearerCredential,
  bearerTokens,
  hasSecondBearer,
  withoutBearerProtocols,
} from './bearer.js';

const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.YWJj';

describe('a bearer token', () => {
  it.each([
    ['Bearer abc', 'abc'],
    [' bearer abc more', 'abc'],
    ['bEaReR abc', 'abc'],
    ['Basic abc', undefined],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['Bearer  abc', undefined],
    ['Bearer\tabc', undefined],
    ['\u00a0Bearer abc', undefined],
    ['\u00c2\u00a0Bearer abc', undefined],
    ['Bearer \u00e4bc', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('is read from Authorization %j as %j', (header, token) => {
    expect(authorizationBearer(header)).toBe(token);
  });

  it('is read from Authorization first, then from the subprotocols of a WebSocket', () => {
    const headers = ['Upgrade', 'websocket', 'Sec-WebSocket-Protocol', `${TOKEN_PROTOCOL}, v4.channel.k8s.io`];
    const both = exchangeFor('/', { headers: [...headers, 'Authorization', 'Bearer x'], upgrade: true });
    expect(bearerTokens(both)).toEqual({ tokens: ['x', 'abc'], malformed: false });
    expect(bearerCredential(both)).toBe('x');
    const one = exchangeFor('/', { headers, upgrade: true });
    expect(bearerTokens(one)).toEqual({ tokens: ['abc'], malformed: false });
    expect(bearerCredential(one)).toBe('abc');
  });

  it('is malformed if the subprotocols of a WebSocket contain two tokens', () => {
    const headers = ['Upgrade', 'websocket', 'Sec-WebSocket-Protocol', `${TOKEN_PROTOCOL}, a, ${TOKEN_PROTOCOL}`];
    const exchange = exchangeFor('/', { headers, upgrade: true });
    expect(bearerTokens(exchange)).toEqual({ tokens: [], malformed: true });
    expect(bearerCredential(exchange)).toBeUndefined();
  });

  it('is malformed in subprotocols with octets that Go, unlike JavaScript, removes as blanks', () => {
    const headers = [
      'Upgrade',
      'websocket',
      'Sec-WebSocket-Protocol',
      `\u00c2\u0085${TOKEN_PROTOCOL}, v4.channel.k8s.io`,
    ];
    const exchange = exchangeFor('/', { headers, upgrade: true });
    expect(bearerTokens(exchange)).toEqual({ tokens: [], malformed: true });
    expect(hasSecondBearer(exchange)).toBe(true);
    expect(withoutBearerProtocols(headers[3]!)).toBe('v4.channel.k8s.io');
  });

  it('is removed from the list of WebSocket subprotocols', () => {
    expect(withoutBearerProtocols(`v5.channel.k8s.io,${TOKEN_PROTOCOL},v4.channel.k8s.io`)).toBe(
      'v5.channel.k8s.io, v4.channel.k8s.io',
    );
    expect(withoutBearerProtocols(TOKEN_PROTOCOL)).toBe('');
    expect(withoutBearerProtocols('v5.channel.k8s.io,v4.channel.k8s.io')).toBe('v5.channel.k8s.io,v4.channel.k8s.io');
  });
});

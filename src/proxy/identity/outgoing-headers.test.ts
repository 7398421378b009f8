import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.js';
import { Exchange } from '../../http/exchange.js';
import { headerValue, headerValues } from '../../http/headers.js';
import { ANONYMOUS, type EstablishedIdentity, type Identity } from '../../http/identity.js';
import { makeCa, makeClient, makeServer, type TestCertificate } from '../../http/tls/pki.fixture.js';
import { createAuthenticator } from './authenticate.js';
import { ConnectionStandings } from './connection-standings.js';
import { createOutgoingHeaders, escapeHeaderKey, type HeaderRecipient } from './outgoing-headers.js';
import { identityFromHeaders, requestHeaderReader } from './request-header.js';

const LOCAL: HeaderRecipient = { kind: 'kube-apiserver', rerouted: false };
const outgoing = createOutgoingHeaders();

interface Given {
  readonly identity?: Identity;
  readonly trustedProxy?: boolean;
  readonly peerProxied?: boolean;
  readonly upgrade?: boolean;
  readonly remoteAddress?: string;
}

function exchange(headers: readonly string[], given: Given = {}): Exchange {
  const connection = { remoteAddress: given.remoteAddress ?? '127.0.0.9', certificateChain: [] };
  const init = { method: 'GET', target: '/', headers, body: null, connection, upgrade: given.upgrade ?? false };
  const made = new Exchange(init, 0);
  made.identity = given.identity ?? ANONYMOUS;
  made.trustedProxy = given.trustedProxy ?? false;
  made.peerProxied = given.peerProxied ?? false;
  return made;
}

function person(more: Partial<EstablishedIdentity> = {}): EstablishedIdentity {
  return { kind: 'established', user: 'jane', uid: '', groups: [], extra: new Map(), ...more };
}

const lowerNames = (headers: readonly string[]) =>
  headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());

describe('outgoingHeaders', () => {
  it('keeps order and spelling of end-to-end fields, and drops hop-by-hop fields', () => {
    const { headers, lane } = outgoing(
      exchange([
        ...['Host', 'api:6443', 'aCCept', 'a', 'Connection', 'keep-alive, X-Mine', 'Keep-Alive', '5', 'X-Mine', 'x'],
        ...[
          'Transfer-Encoding',
          'chunked',
          'TE',
          'trailers',
          'Expect',
          '100-continue',
          'Upgrade',
          'h2c',
          'Accept',
          'b',
        ],
        ...['Impersonate-User', 'bob', 'Proxy-Authorization', 'x', 'Authorization', 'Bearer abc'],
      ]),
      LOCAL,
    );
    expect(headers).toEqual([
      ...['aCCept', 'a', 'TE', 'trailers', 'Accept', 'b', 'Impersonate-User', 'bob', 'Authorization', 'Bearer abc'],
      ...['Host', 'api:6443', 'X-Forwarded-For', '127.0.0.9'],
    ]);
    expect(lane).toBe('plain');
  });

  it('drops TE other than trailers, a second Host, and pseudo-headers except :authority', () => {
    const { headers } = outgoing(exchange([':method', 'GET', ':authority', 'a', 'host', 'b', 'te', 'gzip']), LOCAL);
    expect(headers).toEqual(['Host', 'a', 'X-Forwarded-For', '127.0.0.9']);
    expect(headerValue(outgoing(exchange(['host', 'b']), { ...LOCAL, host: 'c' }).headers, 'host')).toBe('c');
  });

  it('sends an established identity on the front-proxy lane, without the token', () => {
    const identity = person({
      uid: 'u1',
      groups: ['dev', '', 'żółw'],
      extra: new Map([['example.com/a b', ['1', '2']]]),
    });
    const { headers, lane } = outgoing(exchange(['Authorization', 'Bearer abc'], { identity }), LOCAL);
    expect(headers.slice(2)).toEqual([
      ...['X-Remote-User', 'jane', 'X-Remote-Uid', 'u1', 'X-Remote-Group', 'dev'],
      ...['X-Remote-Group', Buffer.from('żółw').toString('latin1')],
      ...['X-Remote-Extra-example.com%2Fa%20b', '1', 'X-Remote-Extra-example.com%2Fa%20b', '2'],
    ]);
    expect(lane).toBe('front-proxy');
  });

  it('sends forwarded credentials to another Straddle on the front-proxy lane, without identity fields', () => {
    const made = outgoing(exchange(['Authorization', 'Bearer abc', 'X-Remote-User', 'root']), {
      kind: 'straddle',
      rerouted: true,
    });
    expect(made).toEqual({
      headers: ['Authorization', 'Bearer abc', 'X-Forwarded-For', '127.0.0.9', 'X-Kubernetes-Peer-Proxied', 'true'],
      lane: 'front-proxy',
    });
  });

  it('drops identity and reroute fields of every client, trusted proxies included, in any spelling', () => {
    const names = [
      'X-Remote-User',
      'x-remote-uid',
      'X-REMOTE-GROUP',
      'x-Remote-Extra-Scopes',
      'X-Remote-Extra-',
      'x-kubernetes-PEER-proxied',
    ];
    const headers = names.flatMap((name) => [name, 'true']);
    for (const trustedProxy of [false, true]) {
      expect(lowerNames(outgoing(exchange(headers, { trustedProxy }), LOCAL).headers)).toEqual(['x-forwarded-for']);
    }
  });

  it('drops configured and default identity fields, and sends the configured ones', () => {
    const custom = createOutgoingHeaders({
      usernameHeaders: ['X-Who', 'X-Who-Else'],
      extraHeaderPrefixes: [' X-More- '],
    });
    const spoofed = [
      'x-who',
      'root',
      'X-WHO-ELSE',
      'root',
      'x-more-a',
      'b',
      'X-Remote-User',
      'root',
      'X-Remote-Extra-A',
      'b',
    ];
    expect(lowerNames(custom(exchange(spoofed), LOCAL).headers)).toEqual(['x-forwarded-for']);
    const identity = person({ extra: new Map([['k', ['v']]]) });
    expect(custom(exchange([], { identity }), LOCAL).headers.slice(2)).toEqual(['X-Who', 'jane', 'X-More-k', 'v']);
  });

  it('keeps field names that are different names in Go, and refuses malformed ones', () => {
    // Go folds case only: an underscore is not a hyphen there.
    expect(lowerNames(outgoing(exchange(['X_Remote_User', 'root']), LOCAL).headers)).toContain('x_remote_user');
    for (const name of [
      'X-Remote-User ',
      ' X-Remote-User',
      'X-Remote-User\t',
      'X-Remote-User:',
      'X-Remote-U\u017fer',
      '',
      'A\r\nX-Remote-User',
    ]) {
      expect(() => outgoing(exchange([name, 'root']), LOCAL)).toThrow(/malformed header name/);
    }
  });

  it('keeps forwarding fields of trusted proxies only, and appends the caller', () => {
    const claims = [
      'X-Forwarded-For',
      '1.1.1.1',
      'x-forwarded-for',
      '2.2.2.2',
      'X-Forwarded-Proto',
      'https',
      'Forwarded',
      'for=1.1.1.1',
      'X-Real-IP',
      '1.1.1.1',
    ];
    expect(outgoing(exchange(claims, { remoteAddress: '10.0.0.1' }), LOCAL).headers).toEqual([
      'X-Forwarded-For',
      '10.0.0.1',
    ]);
    const { headers } = outgoing(exchange(claims, { trustedProxy: true }), LOCAL);
    expect(headerValues(headers, 'x-forwarded-for')).toEqual(['1.1.1.1, 2.2.2.2, 127.0.0.9']);
    expect(lowerNames(headers)).toEqual(['x-forwarded-proto', 'forwarded', 'x-real-ip', 'x-forwarded-for']);
  });

  it('marks rerouted requests, and keeps the mark of requests from a peer', () => {
    const mark = 'x-kubernetes-peer-proxied';
    expect(headerValue(outgoing(exchange([]), LOCAL).headers, mark)).toBeUndefined();
    expect(headerValues(outgoing(exchange([mark, 'x']), { ...LOCAL, rerouted: true }).headers, mark)).toEqual(['true']);
    expect(headerValues(outgoing(exchange([], { peerProxied: true }), LOCAL).headers, mark)).toEqual(['true']);
  });

  it.each(['Impersonate-User', 'Authorization', 'Content-Length', 'impersonate-extra-scopes'])(
    'refuses a Connection field that names %s',
    (name) => {
      expect(() => outgoing(exchange(['Connection', name, name, '1']), LOCAL)).toThrow(/Connection must not name/);
    },
  );

  it('keeps the identity fields when a Connection field names them', () => {
    const named = ['Connection', 'X-Remote-User, X-Remote-Group, X-Kubernetes-Peer-Proxied', 'X-Remote-User', 'root'];
    const { headers } = outgoing(exchange(named, { identity: person() }), { ...LOCAL, rerouted: true });
    expect(headerValues(headers, 'x-remote-user')).toEqual(['jane']);
    expect(headerValue(headers, 'x-kubernetes-peer-proxied')).toBe('true');
  });

  it('keeps the fields of an upgrade', () => {
    const protocols = 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.YWJj';
    const asked = [
      'Connection',
      'keep-alive, Upgrade',
      'Upgrade',
      'websocket',
      'Sec-WebSocket-Key',
      'k',
      'Sec-WebSocket-Protocol',
      protocols,
      'X-Stream-Protocol-Version',
      'v4',
    ];
    const { headers } = outgoing(exchange(asked, { upgrade: true, identity: person() }), LOCAL);
    expect(headers).toEqual([
      ...['Sec-WebSocket-Key', 'k', 'Sec-WebSocket-Protocol', 'v5.channel.k8s.io', 'X-Stream-Protocol-Version', 'v4'],
      ...['Connection', 'Upgrade', 'Upgrade', 'websocket', 'X-Forwarded-For', '127.0.0.9', 'X-Remote-User', 'jane'],
    ]);
    const carried = outgoing(exchange(asked, { upgrade: true }), LOCAL);
    expect(headerValue(carried.headers, 'sec-websocket-protocol')).toBe(protocols);
    expect(() => outgoing(exchange(['A', 'b\r\nX-Remote-User: root'], { upgrade: true }), LOCAL)).toThrow(
      /control characters/,
    );
  });

  it('removes bearer tokens from WebSocket subprotocols for an established identity', () => {
    const token = 'base64url.bearer.authorization.k8s.io.YWJj';
    const asked = ['Upgrade', 'websocket', 'Sec-WebSocket-Protocol', token, 'Sec-WebSocket-Protocol', `a, ${token}`];
    const known = outgoing(exchange(asked, { upgrade: true, identity: person() }), LOCAL);
    expect(headerValues(known.headers, 'sec-websocket-protocol')).toEqual(['a']);
    const carried = outgoing(exchange(asked, { upgrade: true }), LOCAL);
    expect(headerValues(carried.headers, 'sec-websocket-protocol')).toEqual([token, `a, ${token}`]);
  });

  it.each(['ja\rne', 'ja\nne', 'ja\0ne', ' jane', 'jane ', '', '\ud800', 'ja\x7fne'])(
    'refuses to send the user name %j',
    (user) => {
      expect(() => outgoing(exchange([], { identity: person({ user }) }), LOCAL)).toThrow('Unauthorized');
    },
  );

  it('refuses control characters in groups, uid and extra', () => {
    for (const more of [{ groups: ['a\r\nb'] }, { uid: 'a\nb' }, { extra: new Map([['k', ['a\0b']]]) }]) {
      expect(() => outgoing(exchange([], { identity: person(more) }), LOCAL)).toThrow('Unauthorized');
    }
  });

  it('sends identities that a receiver parses back to the same value', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((value) => !/[\x00-\x1f\x7f]|^\s|\s$/.test(value));
    const extra = fc.dictionary(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.array(text, { minLength: 1, maxLength: 3 }),
    );
    fc.assert(
      fc.property(text, text, fc.array(text), extra, (user, uid, groups, entries) => {
        const identity = person({ user, uid, groups, extra: new Map(Object.entries(entries)) });
        const { headers } = outgoing(exchange([], { identity }), LOCAL);
        expect(identityFromHeaders(headers, requestHeaderReader({}))).toEqual(identity);
      }),
    );
  });

  it('escapes extra keys like Kubernetes clients', () => {
    expect(escapeHeaderKey('scopes')).toBe('scopes');
    expect(escapeHeaderKey('a/b%c:ü')).toBe('a%2Fb%25c%3A%C3%BC');
    expect(escapeHeaderKey('Key')).toBe('%4Bey');
  });
});

describe('authenticate and outgoingHeaders over TLS', () => {
  const serverCa = makeCa('server ca');
  const clientCa = makeCa('kubernetes');
  const proxyCa = makeCa('front-proxy-ca');
  const serving = makeServer(serverCa);
  const clientBundle = [clientCa.x509];
  const proxyBundle = [proxyCa.x509];
  const standings = new ConnectionStandings({
    clientCa: () => clientBundle,
    requestHeaderCa: () => proxyBundle,
    allowedNames: ['front-proxy-client'],
    clock: systemClock,
  });
  const authenticate = createAuthenticator({ standings });

  /** Replies with the header fields that it would send on, or with the status of the refusal. */
  const server = createServer(
    { cert: serving.pem, key: serving.keyPem, requestCert: true, rejectUnauthorized: false },
    (req, res) => {
      const certificate = (req.socket as TLSSocket).getPeerX509Certificate();
      const connection = {
        remoteAddress: req.socket.remoteAddress!,
        certificateChain: certificate ? [certificate.raw] : [],
      };
      const made = new Exchange(
        { method: req.method!, target: req.url!, headers: req.rawHeaders, body: null, connection },
        0,
      );
      try {
        Object.assign(made, authenticate(made));
        res.end(JSON.stringify(outgoing(made, LOCAL)));
      } catch (error) {
        res.statusCode = (error as { status: { code: number } }).status.code;
        res.end('{}');
      }
    },
  );

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  async function ask(as: TestCertificate | undefined, headers: Record<string, string>) {
    const { port } = server.address() as AddressInfo;
    const identity = as ? { cert: as.pem, key: as.keyPem } : {};
    const sent = httpsRequest({ host: '127.0.0.1', port, ca: serverCa.pem, headers, agent: false, ...identity });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const body = JSON.parse(Buffer.concat(await answer.toArray()).toString());
    return { code: answer.statusCode, headers: body.headers as string[], lane: body.lane as string };
  }

  const SPOOFED = {
    'X-Remote-User': 'root',
    'X-Remote-Group': 'system:masters',
    'X-Kubernetes-Peer-Proxied': 'true',
    'X-Forwarded-For': '6.6.6.6',
  };

  it('sends the identity of the client certificate, not that of spoofed headers', async () => {
    const { headers, lane } = await ask(makeClient(clientCa, { cn: 'jane', organizations: ['dev'] }), SPOOFED);
    expect(headerValues(headers, 'x-remote-user')).toEqual(['jane']);
    expect(headerValues(headers, 'x-remote-group')).toEqual(['dev']);
    expect(headerValues(headers, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(headerValue(headers, 'x-kubernetes-peer-proxied')).toBeUndefined();
    expect(lane).toBe('front-proxy');
  });

  it('sends a caller without certificate on the plain lane, with its token only', async () => {
    const { headers, lane } = await ask(undefined, { ...SPOOFED, Authorization: 'Bearer abc' });
    expect(headers.join().toLowerCase()).not.toMatch(/x-remote|peer-proxied|6\.6\.6\.6/);
    expect(headerValue(headers, 'authorization')).toBe('Bearer abc');
    expect(lane).toBe('plain');
  });

  it('sends the identity that a front proxy asserts', async () => {
    const { headers } = await ask(makeClient(proxyCa, { cn: 'front-proxy-client' }), SPOOFED);
    expect(headerValues(headers, 'x-remote-user')).toEqual(['root']);
    expect(headerValues(headers, 'x-forwarded-for')).toEqual(['6.6.6.6, 127.0.0.1']);
  });

  it('replies with 401 to certificates of an unknown CA and to front proxies without an allowed name', async () => {
    expect((await ask(makeClient(makeCa('kubernetes'), { cn: 'root' }), SPOOFED)).code).toBe(401);
    expect((await ask(makeClient(proxyCa, { cn: 'other' }), SPOOFED)).code).toBe(401);
    expect((await ask(makeServer(clientCa, { cn: 'front-proxy-client' }), SPOOFED)).code).toBe(401);
  });
});

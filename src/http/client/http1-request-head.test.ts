import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { outgoing } from '../tls/tls-server.fixture.js';
import { requestHead } from './http1-request-head.js';

const headOf = (more: Parameters<typeof outgoing>[0]) => requestHead(outgoing(more).request, '10.0.0.1:6443');

describe('requestHead', () => {
  it('keeps fields unchanged and puts Host first', () => {
    const { text } = headOf({ target: '/a?b=%20', headers: ['X-B', '1', 'HOST', 'me', 'x-b', '\xe4 2'] });
    expect(text).toBe('GET /a?b=%20 HTTP/1.1\r\nhost: me\r\nconnection: keep-alive\r\nX-B: 1\r\nx-b: \xe4 2\r\n');
  });

  it('adds the server address as Host if the caller sent none', () => {
    expect(headOf({ headers: [] }).text).toContain('\r\nhost: 10.0.0.1:6443\r\n');
  });

  it('removes Content-Length from the fields and returns it', () => {
    const head = headOf({ method: 'PUT', headers: ['Content-Length', '12'], body: Readable.from([]) });
    expect(head).toMatchObject({ announcedBytes: 12, saysEmpty: true, keepsAlive: true });
    expect(head.text).not.toMatch(/content-length/i);
    expect(headOf({}).announcedBytes).toBe(-1);
  });

  it.each([{ method: 'HEAD' }, { method: 'GET', body: Buffer.from('x') }, { headers: ['Connection', 'x, close'] }])(
    'sends Connection: close if the connection cannot be reused: %j',
    (more) => {
      const head = headOf(more);
      expect(head.keepsAlive).toBe(false);
      expect(head.text).toContain('\r\nconnection: close\r\n');
    },
  );

  it.each<Parameters<typeof outgoing>[0]>([
    { target: '/a b' },
    { target: '/a\r\nX: y' },
    { target: '/a\0' },
    { target: '/\u010a' },
    { target: 'a' },
    { target: '' },
    { target: '*' },
    { method: 'GET /x HTTP/1.1\r\nA: b\r\n\r\nGET' },
    { method: '' },
    { method: 'CONNECT' },
    { headers: ['A', 'b\r\nC: d'] },
    { headers: ['A', 'b\nC: d'] },
    { headers: ['A', 'b\0'] },
    // U+010A would become a line feed in Latin-1.
    { headers: ['A', 'b\u010aC: d'] },
    { headers: ['A\r\nB', 'c'] },
    { headers: ['A b', 'c'] },
    { headers: ['A:', 'c'] },
    { headers: ['', 'c'] },
    { headers: ['Host', 'a', 'host', 'b'] },
    { headers: ['Host', 'a\r\nB: c'] },
    { headers: ['Content-Length', '1', 'content-length', '1'] },
    { headers: ['Content-Length', '1, 1'] },
    { headers: ['Content-Length', '+1'] },
    { headers: ['Content-Length', ''] },
    { headers: ['Transfer-Encoding', 'chunked'] },
    { headers: ['Keep-Alive', 'timeout=1'] },
    { headers: ['Upgrade', 'x'] },
    { headers: ['Expect', '100-continue'] },
    { method: 'PUT', headers: ['Content-Length', '2'], body: Buffer.from('abc') },
  ])('throws a StatusError for an invalid or ambiguous request: %j', (more) => {
    expect(() => headOf(more)).toThrow(
      expect.objectContaining({
        name: 'StatusError',
        message: expect.stringContaining('the request cannot be forwarded'),
      }),
    );
  });
});

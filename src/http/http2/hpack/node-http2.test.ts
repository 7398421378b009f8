import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http2';
import { afterEach, describe, expect, it } from 'vitest';
import { HeaderDecoder } from './header-decoder.js';
import { encodedBytesMax, encodeResponse, encodeTrailers } from './header-encoder.js';
import { TableEncoder } from './hpack-encoder.fixture.js';
import { END_STREAM, type NodeHttp2Client, nodeHttp2Client, type SeenRequest } from './node-http2-client.fixture.js';

const PRINTABLE = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');
const HIGH = Array.from({ length: 128 }, (_, i) => String.fromCharCode(128 + i)).join('');

let open: NodeHttp2Client | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function client(onRequest: (request: SeenRequest) => void): Promise<NodeHttp2Client> {
  open = await nodeHttp2Client(onRequest);
  return open;
}

function block(status: number, fields: readonly string[]): Buffer {
  const into = Buffer.alloc(encodedBytesMax(status, fields));
  return into.subarray(0, encodeResponse(into, 0, status, fields));
}

describe('HeaderDecoder with Node’s HTTP/2 client', () => {
  it('decodes consecutive requests of one connection', async () => {
    const decoder = new HeaderDecoder({ tableBytesMax: 4096, listBytesMax: 1e6, fieldsMax: 1000 });
    const seen: string[][] = [];
    const { session } = await client(({ block: received, answer }) => {
      seen.push(decoder.decode(received).fields);
      answer(Buffer.of(0x88), END_STREAM);
    });
    const expected: string[][] = [];
    for (let i = 0; i < 60; i++) {
      const headers = {
        ':method': i % 3 === 0 ? 'POST' : 'GET',
        ':path': `/api/v1/namespaces/ns-${i % 7}/pods?limit=${i}`,
        authorization: `Bearer ${'e1Jh.-_9'.repeat(100)}`,
        'user-agent': 'kubectl/v1.34.0 (linux/amd64) kubernetes/1234567',
        // Digits have short codes: with them around, nghttp2 Huffman-codes even rare octets.
        'x-printable': `0${PRINTABLE}0`,
        'x-high': `${HIGH.slice((i % 16) * 8, (i % 16) * 8 + 8)}${'0'.repeat(100)}`,
        [`x-new-${i}`]: 'v'.repeat(i * 20),
        ...(i === 59 ? { 'x-many-frames': 'é~'.repeat(10_000) } : {}),
      };
      const stream = session.request(headers, { endStream: true });
      stream.resume();
      await once(stream, 'close');
      expected.push(Object.entries(headers).flat());
    }
    for (const [i, fields] of seen.entries()) {
      const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${fields[at + 1]}`] : []));
      const sent = expected[i]!.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${expected[i]![at + 1]}`] : []));
      expect(pairs).toEqual(expect.arrayContaining(sent));
      // Node adds :scheme and :authority.
      expect(pairs.length).toBe(sent.length + 2);
    }
    expect(seen.length).toBe(60);
  });
});

describe('encodeResponse with Node’s HTTP/2 client', () => {
  it('writes headers and trailers that the client decodes unchanged', async () => {
    const fields = [
      ...['Content-Type', 'application/json', 'Cache-Control', 'no-cache, private', 'X-Printable', `0${PRINTABLE}0`],
      ...['X-High', HIGH, 'Set-Cookie', 'a=b', 'Set-Cookie', 'c=d', 'Connection', 'keep-alive', 'Empty', ''],
      ...['X-Long', 'x'.repeat(9000), 'Content-Type', 'text/plain', 'Audit-Id', '0f5c1c1e-8b5f-4f2e-9f8e-1c1e8b5f4f2e'],
    ];
    const { session } = await client(({ answer }) => {
      answer(block(418, fields), 0);
      const into = Buffer.alloc(100);
      answer(into.subarray(0, encodeTrailers(into, 0, ['Grpc-Status', '0'])), END_STREAM);
    });
    const stream = session.request({ ':path': '/' }, { endStream: true });
    const trailers = once(stream, 'trailers');
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(headers).toMatchObject({
      ':status': 418,
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
      'x-printable': `0${PRINTABLE}0`,
      'x-high': HIGH,
      'set-cookie': ['a=b', 'c=d'],
      empty: '',
      'x-long': 'x'.repeat(9000),
      'audit-id': '0f5c1c1e-8b5f-4f2e-9f8e-1c1e8b5f4f2e',
    });
    expect(Object.keys(headers).length).toBe(9);
    stream.resume();
    expect((await trailers)[0]).toMatchObject({ 'grpc-status': '0' });
  });
});

describe('TableEncoder (test fixture)', () => {
  it('writes indexed and Huffman-coded fields that Node’s HTTP/2 client decodes', async () => {
    const encoder = new TableEncoder();
    const value = `0${PRINTABLE}${HIGH}0`;
    const { session } = await client(({ answer }) => {
      const status = { name: ':status', value: '200', as: 'indexed' as const, huffman: false };
      const as = encoder.entries.length === 0 ? ('kept' as const) : ('indexed' as const);
      answer(encoder.encode([status, { name: 'x-all', value, as, huffman: true }]), END_STREAM);
    });
    for (let i = 0; i < 3; i++) {
      const stream = session.request({ ':path': '/' }, { endStream: true });
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      expect(headers['x-all']).toBe(value);
      stream.resume();
      await once(stream, 'close');
    }
  });
});

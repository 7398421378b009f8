import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Http1ResponseParser } from './http1-response-parser.js';
import { Recorder, read, type Seen } from './http1-response-reading.fixture.js';

const readText = (text: string, method?: string) => read([Buffer.from(text, 'latin1')], method);
const OK = 'HTTP/1.1 200 OK\r\n';
const chunkedResponse = (body: string) => `${OK}Transfer-Encoding: chunked\r\n\r\n${body}`;

const ANSWERS: readonly (readonly [name: string, text: string, expected: Partial<Seen>, method?: string])[] = [
  [
    'a response with Content-Length',
    `${OK}X-Odd-CASE: \t a  b \t\r\nContent-Length: 5\r\nx-odd-case:\r\n\r\nhello`,
    {
      status: 200,
      fields: ['X-Odd-CASE', 'a  b', 'Content-Length', '5', 'x-odd-case', ''],
      body: 'hello',
      trailers: [],
    },
  ],
  ['a response with Content-Length 0', `${OK}Content-Length: 0\r\n\r\n`, { body: '', trailers: [], keepsAlive: true }],
  [
    'a status line without a reason',
    'HTTP/1.1 404\r\nContent-Length: 1\r\n\r\nx',
    { status: 404, body: 'x', trailers: [] },
  ],
  ['a response in Latin-1', `${OK}X: \xe4\xff\r\nContent-Length: 1\r\n\r\n\xe4`, { body: '\xe4', trailers: [] }],
  [
    'a chunked response',
    chunkedResponse('5\r\nhello\r\n00B\r\n, the world\r\n0\r\n\r\n'),
    { body: 'hello, the world', trailers: [] },
  ],
  [
    'a chunked response with extensions and trailers',
    chunkedResponse(
      '3;a=b;c="d; \\"e\xe4"\r\nabc\r\n1;x\r\nd\r\n0;last\r\nX-Sum: 7\r\nTransfer-Encoding: chunked\r\n\r\n',
    ),
    { fields: [], body: 'abcd', trailers: ['X-Sum', '7'], hasConnection: false },
  ],
  [
    'a response that ends with the connection',
    `${OK}\r\nall of it\r\n`,
    { body: 'all of it\r\n', trailers: [], keepsAlive: false },
  ],
  [
    'a response of HTTP/1.0',
    'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi',
    { body: 'hi', trailers: [], keepsAlive: false },
  ],
  [
    'a response with Connection: close',
    `${OK}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`,
    { trailers: [], keepsAlive: false, hasConnection: true },
  ],
  [
    'a response with a Keep-Alive timeout',
    `${OK}Keep-Alive: timeout=5, max=9\r\nContent-Length: 0\r\n\r\n`,
    { keepAliveMs: 5_000, keepsAlive: true },
  ],
  [
    'a response to HEAD',
    `${OK}Content-Length: 100\r\n\r\n`,
    { status: 200, body: '', trailers: [], surplus: false },
    'HEAD',
  ],
  ['a chunked response to HEAD', `${OK}Transfer-Encoding: chunked\r\n\r\n`, { trailers: [] }, 'HEAD'],
  ['a 204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, trailers: [], keepsAlive: true }],
  ['a 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', { status: 304, body: '', trailers: [] }],
  [
    'a response after informational responses',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\nConnection: x\r\n\r\n${OK}Content-Length: 1\r\n\r\nx`,
    { status: 200, fields: ['Content-Length', '1'], body: 'x', trailers: [], keepsAlive: true, hasConnection: false },
  ],
  [
    'a response followed by other bytes',
    `${OK}Content-Length: 2\r\n\r\nhi${OK}`,
    { body: 'hi', trailers: [], surplus: true },
  ],
  ['a chunked response followed by other bytes', chunkedResponse('0\r\n\r\nx'), { trailers: [], surplus: true }],
];

describe('Http1ResponseParser', () => {
  const cases = ANSWERS.map(([name, text, expected, method]) => ({ name, text, expected, method }));
  it.each(cases)('parses $name, with the same result wherever it is split', ({ text, expected, method }) => {
    const bytes = Buffer.from(text, 'latin1');
    const whole = read([bytes], method);
    expect(whole).toMatchObject({ ...expected, error: undefined });
    for (let at = 1; at < bytes.length; at++) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)], method)).toEqual(whole);
    }
    expect(
      read(
        [...bytes].map((byte) => Buffer.of(byte)),
        method,
      ),
    ).toEqual(whole);
  });

  it.each([
    ['in the head', `${OK}Content-Length: 5`],
    ['between head and body', `${OK}Content-Length: 5\r\n\r\n`],
    ['in the body', `${OK}Content-Length: 5\r\n\r\nhell`],
    ['in the size of a chunk', chunkedResponse('5')],
    ['in a chunk', chunkedResponse('5\r\nhel')],
    ['after a chunk', chunkedResponse('5\r\nhello\r\n')],
    ['before the end of the trailers', chunkedResponse('0\r\nA: b\r\n')],
    ['at the very end', chunkedResponse('0\r\n\r')],
    ['after an informational response', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('does not complete a response that ends %s', (_, text) => {
    expect(readText(text).trailers).toBeUndefined();
  });

  it('keeps no state of the previous response on the same connection', () => {
    const parser = new Http1ResponseParser();
    const closing = new Recorder();
    parser.begin(closing, 'HEAD');
    parser.execute(Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\n'));
    expect(parser.idle).toBe(true);
    const next = new Recorder();
    parser.begin(next, 'GET');
    parser.execute(Buffer.from(`${OK}Content-Length: 1\r\n\r\nx`));
    expect(next.seen).toMatchObject({ body: 'x', keepsAlive: true, fields: ['Content-Length', '1'] });
  });

  it('discards the rest of the response after stop()', () => {
    const parser = new Http1ResponseParser();
    const recorder = new Recorder();
    recorder.onBody = () => parser.stop();
    parser.begin(recorder, 'GET');
    parser.execute(Buffer.from(chunkedResponse('1\r\na\r\n1\r\nb\r\n0\r\n\r\n')));
    expect(recorder.seen.trailers).toBeUndefined();
    expect(parser.idle).toBe(true);
  });
});

describe('Http1ResponseParser on malformed responses', () => {
  it.each([
    ['is not HTTP', 'this is not HTTP\r\n\r\n'],
    ['is HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['is HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['begins with an empty line', `\r\n${OK}\r\n`],
    ['has no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['has a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['has a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['has a status below 100', 'HTTP/1.1 099 No\r\n\r\n'],
    ['has two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['is an unexpected 101', 'HTTP/1.1 101 Switching\r\n\r\n'],
    ['has lines that end in LF', 'HTTP/1.1 200 OK\nContent-Length: 1\n\nx'],
    ['has one line that ends in LF', 'HTTP/1.1 200 OK\r\nA: b\nContent-Length: 1\r\n\r\nx'],
    ['has a CR in a value', `${OK}A: b\rc\r\n\r\n`],
    ['has a NUL in a value', `${OK}A: b\0c\r\n\r\n`],
    ['has a control character in its reason', 'HTTP/1.1 200 O\x01K\r\n\r\n'],
    ['has a folded line', `${OK}A: b\r\n c\r\n\r\n`],
    ['has a space before a colon', `${OK}Content-Length : 1\r\n\r\nx`],
    ['has a field without a colon', `${OK}Content-Length\r\n\r\n`],
    ['has a field without a name', `${OK}: x\r\n\r\n`],
    ['has a name that is not a token', `${OK}A(b): x\r\n\r\n`],
    ['has the same Content-Length twice', `${OK}Content-Length: 2\r\ncontent-length: 2\r\n\r\nhi`],
    ['has two Content-Lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`],
    ['has a list in Content-Length', `${OK}Content-Length: 1, 1\r\n\r\nx`],
    ['has a signed Content-Length', `${OK}Content-Length: +1\r\n\r\nx`],
    ['has a negative Content-Length', `${OK}Content-Length: -1\r\n\r\nx`],
    ['has a hexadecimal Content-Length', `${OK}Content-Length: 0x1\r\n\r\nx`],
    ['has an empty Content-Length', `${OK}Content-Length:\r\n\r\nx`],
    ['has a Content-Length of 20 digits', `${OK}Content-Length: 99999999999999999999\r\n\r\nx`],
    [
      'has Content-Length and Transfer-Encoding',
      `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['has an unknown Transfer-Encoding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['is chunked twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['is chunked in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['has a chunk without a size', chunkedResponse('\r\nx\r\n')],
    ['has a chunk size that is not a number', chunkedResponse('x\r\n')],
    ['has a signed chunk size', chunkedResponse('-1\r\n')],
    ['has a chunk size of 14 digits', chunkedResponse('10000000000000\r\n')],
    ['has a space after a chunk size', chunkedResponse('1 \r\nx\r\n')],
    ['has a chunk line that ends in LF', chunkedResponse('1\nx\r\n')],
    ['has a tab after its length', `${OK}Content-Length: 1\t\r\n\r\nx`],
    ['has a tab and a blank after its length', `${OK}Content-Length: 1\t \r\n\r\nx`],
    ['has a tab after its encoding', `${OK}Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n`],
    ['follows an informational one that closes', `HTTP/1.1 103 W\r\nConnection: close\r\n\r\n${OK}\r\n`],
    ['follows an informational one of HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${OK}\r\n`],
    ['has a blank before an extension', chunkedResponse('1 ;a\r\nx\r\n')],
    ['has a blank in an extension', chunkedResponse('1; a\r\nx\r\n')],
    ['has a blank after an extension', chunkedResponse('1;a \r\nx\r\n')],
    ['has an extension without a name', chunkedResponse('1;\r\nx\r\n')],
    ['has an extension without a value', chunkedResponse('1;a=\r\nx\r\n')],
    ['has an extension whose value is no token', chunkedResponse('1;a=(\r\nx\r\n')],
    ['has an extension with a quote that does not end', chunkedResponse('1;a="b\r\nx\r\n')],
    ['has an extension with a quote that escapes a CR', chunkedResponse('1;a="\\\r\n"\r\nx\r\n')],
    ['has an extension that goes on after a quote', chunkedResponse('1;a="b"c\r\nx\r\n')],
    ['has an extension with an LF', chunkedResponse('1;a\nb\r\nx\r\n')],
    ['has an extension with a lone CR', chunkedResponse('1;a\rb\r\nx\r\n')],
    ['has a chunk longer than its size', chunkedResponse('1\r\nxy\r\n')],
    ['has a chunk that ends in LF', chunkedResponse('1\r\nx\n0\r\n\r\n')],
    ['has trailers with a lone LF', chunkedResponse('0\r\nA: b\nC: d\r\n\r\n')],
    ['has a malformed trailer', chunkedResponse('0\r\nA b\r\n\r\n')],
    ['has a lone CR at the end of its body', chunkedResponse('0\r\n\rx')],
  ])('throws for a response that %s, wherever it is split', (_, text) => {
    const bytes = Buffer.from(text, 'latin1');
    expect(readText(text).error).toEqual(expect.any(String));
    for (let at = 1; at < bytes.length; at++) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)]).error).toEqual(expect.any(String));
    }
    expect(read([...bytes].map((byte) => Buffer.of(byte))).error).toEqual(expect.any(String));
  });

  it.each([
    ['text', 'SSH-2.0-OpenSSH_9\r\n'],
    ['lines that end in LF', 'HTTP/1.1 200 OK\n'],
  ])('throws before the head is complete for %s', (_, text) => {
    expect(readText(text).error).toEqual(expect.any(String));
  });

  it.each([
    ['a head without end', `${OK}A: ${'a'.repeat(256 * 1024)}`],
    ['a complete head', `${OK}A: ${'a'.repeat(256 * 1024)}\r\n\r\n`],
    ['fields', `${OK}${'A: b\r\n'.repeat(1_001)}\r\n`],
    ['informational responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(33)],
    ['one chunk extension', chunkedResponse(`1;${'a'.repeat(17_000)}\r\nx\r\n0\r\n\r\n`)],
    ['many chunk extensions', chunkedResponse(`1;${'a'.repeat(1_000)}\r\nx\r\n`.repeat(20))],
    ['trailers', chunkedResponse(`0\r\nA: ${'a'.repeat(256 * 1024)}\r\n\r\n`)],
  ])('throws when the limit is exceeded by %s, in one piece or in many', (_, text) => {
    expect(readText(text).error).toEqual(expect.any(String));
    const bytes = Buffer.from(text, 'latin1');
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 1_000) pieces.push(bytes.subarray(at, at + 1_000));
    expect(read(pieces).error).toEqual(expect.any(String));
  });

  it('accepts responses just within the limits', () => {
    const long = readText(`${OK}A: ${'a'.repeat(200 * 1024)}\r\nContent-Length: 1\r\n\r\nx`);
    expect(long).toMatchObject({ error: undefined, body: 'x' });
    const many = readText(`${OK}${'A: b\r\n'.repeat(999)}Content-Length: 1\r\n\r\nx`);
    expect(many).toMatchObject({ error: undefined, body: 'x' });
    const usual = readText(chunkedResponse(`${'1;a=b\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`));
    expect(usual).toMatchObject({ error: undefined, trailers: [] });
  });
});

describe('Http1ResponseParser with random input', () => {
  const fragments = fc.constantFrom(
    ...['HTTP/1.1 200 OK', 'HTTP/1.1 100 Continue', '\r\n', '\r\n\r\n', '\n', '\r', '\0', ' ', ':', ';', '0', '5', 'a'],
    ...['Content-Length: 5', 'Transfer-Encoding: chunked', 'Connection: close', '0\r\n\r\n', '5\r\nhello\r\n', 'hello'],
  );
  const sent = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.array(fragments, { maxLength: 20 }).map((parts) => Buffer.from(parts.join(''), 'latin1')),
    fc.array(fragments, { maxLength: 12 }).map((parts) => Buffer.from(chunkedResponse(parts.join('')), 'latin1')),
  );

  it('gives a response, an incomplete one or an error, the same however the bytes are split', () => {
    fc.assert(
      fc.property(sent, fc.array(fc.nat(200), { maxLength: 6 }), (bytes, cuts) => {
        const whole = read([bytes]);
        const places = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
        const pieces = [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length));
        const cut = read(pieces.filter((piece) => piece.length > 0));
        expect(cut.error === undefined).toBe(whole.error === undefined);
        if (whole.error === undefined) expect(cut).toEqual(whole);
      }),
      { numRuns: 2_000 },
    );
  });
});

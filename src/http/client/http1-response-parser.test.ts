import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Http1ResponseError } from './http1-response-error.js';
import { Http1ResponseParser, type ResponseReceiver } from './http1-response-parser.js';

interface Seen {
  status: number;
  fields: readonly string[];
  body: string;
  trailers: readonly string[] | undefined;
  keepsAlive: boolean;
  keepAliveMs: number | undefined;
  hasConnection: boolean;
  surplus: boolean;
  error: string | undefined;
}

class Recorder implements ResponseReceiver {
  readonly seen: Seen = {
    status: 0,
    fields: [],
    body: '',
    trailers: undefined,
    keepsAlive: false,
    keepAliveMs: undefined,
    hasConnection: false,
    surplus: false,
    error: undefined,
  };

  onHead({ status, fields, keepsAlive, keepAliveMs, hasConnection }: Http1ResponseParser): void {
    if (this.seen.status !== 0) throw new Error('a second head');
    Object.assign(this.seen, { status, fields, keepsAlive, keepAliveMs, hasConnection });
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.seen.status === 0 || this.seen.trailers || end <= start) throw new Error('a body out of place');
    this.seen.body += bytes.toString('latin1', start, end);
  }

  onEnd(trailers: readonly string[]): void {
    if (this.seen.status === 0 || this.seen.trailers) throw new Error('an end out of place');
    this.seen.trailers = trailers;
  }
}

/** Feeds an answer in the pieces given, then the end of the connection. Every piece lies amid other bytes. */
function read(pieces: readonly Buffer[], method = 'GET'): Seen {
  const recorder = new Recorder();
  const parser = new Http1ResponseParser();
  parser.begin(recorder, method);
  try {
    for (const piece of pieces) {
      const amid = Buffer.concat([Buffer.from('\r\n\r\n'), piece, Buffer.from('\r\n\r\n')]);
      if (parser.execute(amid, 4, 4 + piece.length)) recorder.seen.surplus = true;
    }
    parser.finish();
  } catch (error) {
    if (!(error instanceof Http1ResponseError)) throw error;
    recorder.seen.error = error.message;
  }
  return recorder.seen;
}

const readText = (text: string, method?: string) => read([Buffer.from(text, 'latin1')], method);
const OK = 'HTTP/1.1 200 OK\r\n';
const chunkedAnswer = (body: string) => `${OK}Transfer-Encoding: chunked\r\n\r\n${body}`;

const ANSWERS: readonly (readonly [name: string, text: string, expected: Partial<Seen>, method?: string])[] = [
  [
    'with a length',
    `${OK}X-Odd-CASE: \t a  b \t\r\nContent-Length: 5\r\nx-odd-case:\r\n\r\nhello`,
    {
      status: 200,
      fields: ['X-Odd-CASE', 'a  b', 'Content-Length', '5', 'x-odd-case', ''],
      body: 'hello',
      trailers: [],
    },
  ],
  ['with an empty body', `${OK}Content-Length: 0\r\n\r\n`, { body: '', trailers: [], keepsAlive: true }],
  ['without a reason', 'HTTP/1.1 404\r\nContent-Length: 1\r\n\r\nx', { status: 404, body: 'x', trailers: [] }],
  ['in Latin-1', `${OK}X: \xe4\xff\r\nContent-Length: 1\r\n\r\n\xe4`, { body: '\xe4', trailers: [] }],
  [
    'in chunks',
    chunkedAnswer('5\r\nhello\r\n00B\r\n, the world\r\n0\r\n\r\n'),
    { body: 'hello, the world', trailers: [] },
  ],
  [
    'in chunks with extensions and trailers',
    chunkedAnswer('3;a=b; c="d"\r\nabc\r\n1 ;x\r\nd\r\n0;last\r\nX-Sum: 7\r\nTransfer-Encoding: chunked\r\n\r\n'),
    { fields: [], body: 'abcd', trailers: ['X-Sum', '7'], hasConnection: false },
  ],
  [
    'that goes on until the connection ends',
    `${OK}\r\nall of it\r\n`,
    { body: 'all of it\r\n', trailers: [], keepsAlive: false },
  ],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi', { body: 'hi', trailers: [], keepsAlive: false }],
  [
    'that closes',
    `${OK}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`,
    { trailers: [], keepsAlive: false, hasConnection: true },
  ],
  [
    'that stays for a time',
    `${OK}Keep-Alive: timeout=5, max=9\r\nContent-Length: 0\r\n\r\n`,
    { keepAliveMs: 5_000, keepsAlive: true },
  ],
  ['to HEAD', `${OK}Content-Length: 100\r\n\r\n`, { status: 200, body: '', trailers: [], surplus: false }, 'HEAD'],
  ['to HEAD, of a body in chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n`, { trailers: [] }, 'HEAD'],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, trailers: [], keepsAlive: true }],
  ['304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', { status: 304, body: '', trailers: [] }],
  [
    'after informational ones',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\nConnection: close\r\n\r\n${OK}Content-Length: 1\r\n\r\nx`,
    { status: 200, fields: ['Content-Length', '1'], body: 'x', trailers: [], keepsAlive: true, hasConnection: false },
  ],
  ['with bytes after it', `${OK}Content-Length: 2\r\n\r\nhi${OK}`, { body: 'hi', trailers: [], surplus: true }],
  ['with bytes after its chunks', chunkedAnswer('0\r\n\r\nx'), { trailers: [], surplus: true }],
];

describe('an answer', () => {
  const cases = ANSWERS.map(([name, text, expected, method]) => ({ name, text, expected, method }));
  it.each(cases)('$name is read, and read the same wherever it is cut', ({ text, expected, method }) => {
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
    ['in the size of a chunk', chunkedAnswer('5')],
    ['in a chunk', chunkedAnswer('5\r\nhel')],
    ['after a chunk', chunkedAnswer('5\r\nhello\r\n')],
    ['before the end of the trailers', chunkedAnswer('0\r\nA: b\r\n')],
    ['at the very end', chunkedAnswer('0\r\n\r')],
    ['after an informational one', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('that breaks off %s never ends', (_, text) => {
    expect(readText(text).trailers).toBeUndefined();
  });

  it('may be followed by another on the same connection, of which nothing is left', () => {
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

  it('is not read on after whoever waited for it has left', () => {
    const parser = new Http1ResponseParser();
    const recorder = new Recorder();
    recorder.onBody = () => parser.stop();
    parser.begin(recorder, 'GET');
    parser.execute(Buffer.from(chunkedAnswer('1\r\na\r\n1\r\nb\r\n0\r\n\r\n')));
    expect(recorder.seen.trailers).toBeUndefined();
    expect(parser.idle).toBe(true);
  });
});

describe('what is no answer', () => {
  it.each([
    ['is no HTTP', 'this is not HTTP\r\n\r\n'],
    ['is HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['is HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['begins with an empty line', `\r\n${OK}\r\n`],
    ['has no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['has a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['has a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['has a status below 100', 'HTTP/1.1 099 No\r\n\r\n'],
    ['has a blank too many', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['switches protocols', 'HTTP/1.1 101 Switching\r\n\r\n'],
    ['has lines that end in LF', 'HTTP/1.1 200 OK\nContent-Length: 1\n\nx'],
    ['has one line that ends in LF', 'HTTP/1.1 200 OK\r\nA: b\nContent-Length: 1\r\n\r\nx'],
    ['has a CR in a value', `${OK}A: b\rc\r\n\r\n`],
    ['has a NUL in a value', `${OK}A: b\0c\r\n\r\n`],
    ['has a control character in its reason', 'HTTP/1.1 200 O\x01K\r\n\r\n'],
    ['has a folded line', `${OK}A: b\r\n c\r\n\r\n`],
    ['has a blank before the colon', `${OK}Content-Length : 1\r\n\r\nx`],
    ['has a field without a colon', `${OK}Content-Length\r\n\r\n`],
    ['has a field without a name', `${OK}: x\r\n\r\n`],
    ['has a name that is no token', `${OK}A(b): x\r\n\r\n`],
    ['has the same length twice', `${OK}Content-Length: 2\r\ncontent-length: 2\r\n\r\nhi`],
    ['has two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`],
    ['has a list of lengths', `${OK}Content-Length: 1, 1\r\n\r\nx`],
    ['has a signed length', `${OK}Content-Length: +1\r\n\r\nx`],
    ['has a negative length', `${OK}Content-Length: -1\r\n\r\nx`],
    ['has a hexadecimal length', `${OK}Content-Length: 0x1\r\n\r\nx`],
    ['has an empty length', `${OK}Content-Length:\r\n\r\nx`],
    ['has a length that cannot be counted', `${OK}Content-Length: 99999999999999999999\r\n\r\nx`],
    ['has a length and chunks', `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['has an unknown encoding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['is chunked twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['is chunked in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['has a chunk without a size', chunkedAnswer('\r\nx\r\n')],
    ['has a chunk whose size is no number', chunkedAnswer('x\r\n')],
    ['has a chunk whose size is signed', chunkedAnswer('-1\r\n')],
    ['has a chunk whose size cannot be counted', chunkedAnswer('10000000000000\r\n')],
    ['has a blank after the size of a chunk', chunkedAnswer('1 \r\nx\r\n')],
    ['has a chunk line that ends in LF', chunkedAnswer('1\nx\r\n')],
    ['has an extension with an LF', chunkedAnswer('1;a\nb\r\nx\r\n')],
    ['has an extension with a lone CR', chunkedAnswer('1;a\rb\r\nx\r\n')],
    ['has a chunk longer than its size', chunkedAnswer('1\r\nxy\r\n')],
    ['has a chunk that ends in LF', chunkedAnswer('1\r\nx\n0\r\n\r\n')],
    ['has trailers with a lone LF', chunkedAnswer('0\r\nA: b\nC: d\r\n\r\n')],
    ['has a malformed trailer', chunkedAnswer('0\r\nA b\r\n\r\n')],
    ['has a body that ends in CR and something else', chunkedAnswer('0\r\n\rx')],
  ])('because it %s is an error, wherever it is cut', (_, text) => {
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
  ])('is refused before its head ends: %s', (_, text) => {
    expect(readText(text).error).toEqual(expect.any(String));
  });

  it.each([
    ['a head', `${OK}A: ${'a'.repeat(256 * 1024)}`],
    ['a head that ends', `${OK}A: ${'a'.repeat(256 * 1024)}\r\n\r\n`],
    ['fields', `${OK}${'A: b\r\n'.repeat(1_001)}\r\n`],
    ['informational answers', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(33)],
    ['an extension of a chunk', chunkedAnswer(`1;${'a'.repeat(17_000)}\r\nx\r\n0\r\n\r\n`)],
    ['extensions of chunks', chunkedAnswer(`1;${'a'.repeat(1_000)}\r\nx\r\n`.repeat(20))],
    ['trailers', chunkedAnswer(`0\r\nA: ${'a'.repeat(256 * 1024)}\r\n\r\n`)],
  ])('is too much of %s, in one piece or in many', (_, text) => {
    expect(readText(text).error).toEqual(expect.any(String));
    const bytes = Buffer.from(text, 'latin1');
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 1_000) pieces.push(bytes.subarray(at, at + 1_000));
    expect(read(pieces).error).toEqual(expect.any(String));
  });

  it('takes as much as is allowed', () => {
    const long = readText(`${OK}A: ${'a'.repeat(200 * 1024)}\r\nContent-Length: 1\r\n\r\nx`);
    expect(long).toMatchObject({ error: undefined, body: 'x' });
    const many = readText(`${OK}${'A: b\r\n'.repeat(999)}Content-Length: 1\r\n\r\nx`);
    expect(many).toMatchObject({ error: undefined, body: 'x' });
    const usual = readText(chunkedAnswer(`${'1;a=b\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`));
    expect(usual).toMatchObject({ error: undefined, trailers: [] });
  });
});

describe('whatever a server sends', () => {
  const fragments = fc.constantFrom(
    ...['HTTP/1.1 200 OK', 'HTTP/1.1 100 Continue', '\r\n', '\r\n\r\n', '\n', '\r', '\0', ' ', ':', ';', '0', '5', 'a'],
    ...['Content-Length: 5', 'Transfer-Encoding: chunked', 'Connection: close', '0\r\n\r\n', '5\r\nhello\r\n', 'hello'],
  );
  const sent = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.array(fragments, { maxLength: 20 }).map((parts) => Buffer.from(parts.join(''), 'latin1')),
    fc.array(fragments, { maxLength: 12 }).map((parts) => Buffer.from(chunkedAnswer(parts.join('')), 'latin1')),
  );

  it('is an answer, the beginning of one, or an error, and the same in any pieces', () => {
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

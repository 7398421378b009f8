import fc from 'fast-check';

/** An answer as it may come over the wire, the method it answers, and where reads cut it. */
export interface SentResponse {
  readonly bytes: Buffer;
  readonly method: string;
  readonly cuts: readonly number[];
}

const often = <T>(usual: T, ...odd: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });

const lineEnd = fc.oneof(
  { weight: 150, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n', '\n\r\n', ' \r\n', '\t\r\n', '\r\n \r\n') },
);

const version = often('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1', 'HTTP/11');
const status = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('200', '201', '404', '500') },
  { weight: 5, arbitrary: fc.constantFrom('204', '304', '205') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('100', '101', '199', '099', '000', '600', '999', '20', '2000', '2x0', '+20', ''),
  },
);
const reason = often(' OK', '', ' ', ' \xe4\xff', ' a\tb', '  OK', '\tOK', ' a\x01b', ' a\0b', ' a\x7fb');
const statusLine = fc
  .tuple(version, often(' ', '', '  ', '\t'), status, reason, lineEnd)
  .map((parts) => parts.join(''));

const name = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.constantFrom('A', 'x-b', 'Content-Type', 'Connection', 'Keep-Alive', 'Trailer', 'Upgrade'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' A', 'A ', 'A\t', 'A(b)', 'A\xe4', 'A\0', 'A:B', '"A"', "!#$%&'*+-.^_`|~9z"),
  },
);
const value = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.constantFrom('b', 'close', 'keep-alive', 'timeout=5', 'a, b', '', 'b c', '\xe4\xff', ':'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'b\tc',
      'b\0c',
      'b\x01c',
      'b\rc',
      'b\nc',
      'b\x7fc',
      'b\r\n c',
      'b\r\n\tc',
      'b\r\n c\r\n d',
    ),
  },
);
const blank = often(' ', '', '  ', '\t', ' \t ');
const field = fc
  .tuple(name, often(':', '', ' :', '\t:', '::'), blank, value, often('', ' ', '\t', ' \t'), lineEnd)
  .map((parts) => parts.join(''));

/** A field that says how long the body is, in words that a reader may not know. */
const lengthField = (length: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      often('Content-Length', 'content-length', 'CONTENT-LENGTH', 'Content-Length ', 'Content_Length', 'Content-Lengt'),
      blank,
      often(
        String(length),
        ...[
          String(length + 1),
          String(Math.max(length - 1, 0)),
          '',
          '+5',
          '-5',
          '0x5',
          '5, 5',
          '5 5',
          '5;',
          '05',
          '5.0',
        ],
        ...[
          '99999999999999999999',
          '18446744073709551616',
          '9007199254740993',
          '1e1',
          `${length}\t`,
          '000000000000000005',
        ],
      ),
      lineEnd,
    )
    .map(([fieldName, space, text, end]) => `${fieldName}:${space}${text}${end}`);

const encodingField = fc
  .tuple(
    often('Transfer-Encoding', 'transfer-encoding', 'Transfer-Encoding ', 'Transfer_Encoding', 'Transfer-Encodin'),
    blank,
    often(
      'chunked',
      ...[
        'Chunked',
        'CHUNKED',
        'gzip, chunked',
        'chunked, gzip',
        'chunked, chunked',
        'gzip',
        'identity',
        '',
        'xchunked',
      ],
      ...['chunkedx', '"chunked"', 'chunked;q=1', 'chunked,', ',chunked', 'chunked ', '\x0bchunked', 'chun ked'],
    ),
    lineEnd,
  )
  .map(([fieldName, space, text, end]) => `${fieldName}:${space}${text}${end}`);

const content = fc.oneof(
  fc.constantFrom('', 'x', 'hello', 'HTTP/1.1 200 OK\r\n\r\n', '0\r\n\r\n', '\r\n', '\0\xff'),
  fc.string({ maxLength: 40, unit: 'binary-ascii' }),
);

const chunkSize = (length: number): fc.Arbitrary<string> =>
  often(
    length.toString(16),
    ...[
      length.toString(16).toUpperCase(),
      `00${length.toString(16)}`,
      `0x${length.toString(16)}`,
      `+${length}`,
      ` ${length}`,
    ],
    ...['', 'x', '-1', 'ffffffffffffffff', '10000000000000000', 'fffffffffffff', `${length.toString(16)}g`, 'a b'],
  );
const chunkExtension = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom('', ';a', ';a=b', '; a="b"', ';a=b;c=d') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        ' ',
        '\t',
        ' ;a',
        ';',
        ';;',
        ';=',
        ';a=',
        ';a="',
        ';a="b',
        ';a="\r\n"',
        ';a\x01',
        ';a\0',
        ';a\x7f',
        ';a\n',
        ';a\r',
      ],
      ...[
        ';\xe4',
        ';a="\xe4"',
        ';a="b\\"c"',
        ';a="b"c',
        ';a b',
        ';a\t',
        ' a',
        ',a',
        '=a',
        ';a=b c',
        ';a="b";c',
        ';a=";',
      ],
    ),
  },
);
const chunk = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(chunkSize(text.length), chunkExtension, lineEnd, lineEnd)
    .map(([size, extension, first, second]) => `${size}${extension}${first}${text}${second}`);
const lastChunk = fc
  .tuple(
    often('0', '00', '000000', '', '-0', '0x0'),
    chunkExtension,
    lineEnd,
    fc.array(field, { maxLength: 2 }),
    lineEnd,
  )
  .map(([size, extension, first, trailers, last]) => `${size}${extension}${first}${trailers.join('')}${last}`);
const chunks = fc
  .tuple(fc.array(content.filter((text) => text.length > 0).chain(chunk), { maxLength: 3 }), lastChunk)
  .map(([first, last]) => [...first, last].join(''));

/** Body and the fields that frame it: right, wrong, missing, twice or in contradiction. */
const framed: fc.Arbitrary<{ fields: string[]; body: string }> = fc.oneof(
  { weight: 4, arbitrary: content.chain((body) => lengthField(body.length).map((each) => ({ fields: [each], body }))) },
  { weight: 5, arbitrary: fc.tuple(encodingField, chunks).map(([each, body]) => ({ fields: [each], body })) },
  { weight: 1, arbitrary: content.map((body) => ({ fields: [], body })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.array(fc.oneof(lengthField(5), encodingField), { maxLength: 3 }),
        fc.oneof(chunks, fc.constant('hello')),
      )
      .map(([fields, body]) => ({ fields, body })),
  },
);

const informational = fc
  .tuple(often('100', '102', '103', '199', '101'), fc.array(field, { maxLength: 2 }), fc.boolean(), lineEnd)
  .map(([code, fields, hasLength, end]) => {
    const length = hasLength ? 'Content-Length: 3\r\n' : '';
    return `HTTP/1.1 ${code} Wait\r\n${fields.join('')}${length}${end}`;
  });

const response = fc
  .tuple(statusLine, fc.array(field, { maxLength: 4 }), framed, lineEnd, fc.nat(8))
  .map(([line, fields, { fields: framing, body }, end, at]) => {
    const all = [...fields.slice(0, at), ...framing, ...fields.slice(at)];
    return `${line}${all.join('')}${end}${body}`;
  });

const surplus = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.constantFrom('\r\n', 'x', '\0'), response);
const series = fc.oneof(
  { weight: 6, arbitrary: fc.constant([] as string[]) },
  { weight: 2, arbitrary: fc.array(informational, { maxLength: 3 }) },
);

type Mutation = { readonly at: number; readonly how: 'change' | 'insert' | 'delete' | 'repeat'; readonly byte: number };
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(400),
  how: fc.constantFrom('change', 'insert', 'delete', 'repeat'),
  byte: fc.oneof(fc.constantFrom(0, 9, 10, 13, 32, 44, 48, 58, 59, 127, 255), fc.nat(255)),
});

function mutated(bytes: Buffer, { at, how, byte }: Mutation): Buffer {
  if (bytes.length === 0) return bytes;
  const place = at % bytes.length;
  const before = bytes.subarray(0, place);
  if (how === 'insert') return Buffer.concat([before, Buffer.of(byte), bytes.subarray(place)]);
  if (how === 'delete') return Buffer.concat([before, bytes.subarray(place + 1)]);
  if (how === 'change') return Buffer.concat([before, Buffer.of(byte), bytes.subarray(place + 1)]);
  const length = byte % 16;
  return Buffer.concat([bytes.subarray(0, place + length), bytes.subarray(place)]);
}

/** Answers from well-formed to nonsense: most have at most one or two things wrong with them. */
export const sentResponse: fc.Arbitrary<SentResponse> = fc
  .record({
    before: series,
    answer: response,
    after: surplus,
    mutations: fc.oneof(
      { weight: 4, arbitrary: fc.constant([] as Mutation[]) },
      { weight: 2, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
    ),
    length: fc.oneof(
      { weight: 8, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
    ),
    method: fc.oneof({ weight: 6, arbitrary: fc.constant('GET') }, { weight: 1, arbitrary: fc.constant('HEAD') }),
    cuts: fc.array(fc.nat(400), { maxLength: 6 }),
  })
  .map(({ before, answer, after, mutations, length, method, cuts }) => {
    const whole = Buffer.from([...before, answer, after].join(''), 'latin1');
    const bytes = mutations.reduce(mutated, whole);
    return { bytes: bytes.subarray(0, Math.ceil(bytes.length * length)), method, cuts };
  });

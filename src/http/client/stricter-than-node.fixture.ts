/** Answers that Straddle refuses and the HTTP/1.1 client of Node.js accepts. */
export interface StricterThanNode {
  readonly name: string;
  readonly reason: string;
  /** Messages of the refusal: where an answer has two faults, the one found first depends on where it is cut. */
  readonly errors: readonly string[];
  /** Found in the part of the answer that Node.js has read. */
  readonly applies: RegExp;
  /** A whole answer of this kind to GET. */
  readonly example: string;
  /** Major versions of Node.js that accept it; all of them by default. */
  readonly acceptedBy?: (nodeMajor: number) => boolean;
}

/** The parser of Node.js 22 follows RFC 9112 more closely than that of 20. */
const STRICT_SINCE = 22;

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** Any refusal that is not one of these, of something that Node.js accepts, is a fault. */
export const STRICTER_THAN_NODE: readonly StricterThanNode[] = [
  {
    name: 'switching protocols',
    reason: 'upgrades have a connection of their own; here nobody has asked for one',
    errors: ['unexpected 101 Switching Protocols'],
    applies: /^HTTP\/\d\.\d 101/m,
    example: 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  },
  {
    name: 'another version of HTTP',
    reason: 'only HTTP/1.0 and HTTP/1.1 have these lines; the version decides how the body is framed',
    errors: ['malformed status line'],
    applies: /^HTTP\/(?:0\.9|2\.0) /m,
    example: 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n',
  },
  {
    name: 'a status below 100',
    reason:
      'RFC 9110, 15: statuses are from 100 to 599, and by their first digit it is known whether another response follows',
    errors: ['malformed status line'],
    applies: /^HTTP\/\d\.\d 0\d\d/m,
    example: 'HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n',
  },
  {
    name: 'an empty line before a response',
    reason: 'RFC 9112, 2.2 tolerates it before requests only; it may be the rest of the response before',
    errors: ['malformed status line', 'invalid control character in the response head'],
    applies: /(?:^|\r\n\r\n)[\r\n]+HTTP\//,
    example: `\r\n${OK}Content-Length: 0\r\n\r\n`,
  },
  {
    name: 'a status line that ends in two CR',
    reason: 'RFC 9112, 2.2: a CR without LF is invalid; another reader may see a line there or none',
    errors: ['invalid control character in the response head'],
    applies: /^HTTP\/\d\.\d \d{3}[^\r\n]*\r\r/m,
    example: 'HTTP/1.1 200 OK\r\rContent-Length: 0\r\n\r\n',
    acceptedBy: (major) => major < STRICT_SINCE,
  },
  {
    name: 'a control character in the reason',
    reason: 'RFC 9112, 4: none is allowed there, and NUL ends a string for some readers',
    errors: ['invalid control character in the response head'],
    applies: /^HTTP\/\d\.\d \d{3} [^\r\n]*[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/m,
    example: 'HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n',
  },
  {
    name: 'an informational response of HTTP/1.0 that keeps the connection',
    reason:
      'RFC 9110, 15.2: a server must not send one, since HTTP/1.0 defines none; keep-alive of HTTP/1.0 is not supported',
    errors: ['informational response closes the connection'],
    applies: /^HTTP\/1\.0 1\d\d/m,
    example: `HTTP/1.0 100 Continue\r\nConnection: keep-alive\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
  },
  {
    name: 'an informational response that closes, with a tab after it',
    reason: 'RFC 9110, 5.5: the tab is no part of the value; Node.js 20 does not recognise `close` before it',
    errors: ['informational response closes the connection'],
    applies: /^connection:.*close[ \t]*\t[ \t]*\r$/im,
    example: `HTTP/1.1 103 Early Hints\r\nConnection: close\t\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
    acceptedBy: (major) => major < STRICT_SINCE,
  },
  {
    name: 'a length of more than 15 digits',
    reason: 'lengths above 2^53 cannot be counted, and no server writes leading zeros',
    errors: ['malformed or repeated Content-Length'],
    applies: /^content-length:[ \t]*\d{16,}[ \t]*\r$/im,
    example: `${OK}Content-Length: 0000000000000001\r\n\r\nx`,
  },
  {
    name: 'a transfer coding other than chunked',
    reason:
      'RFC 9112, 6.1: nobody asked for another (TE); a body whose coding is unknown would be passed on as another one',
    errors: ['unknown Transfer-Encoding'],
    applies: /^transfer-encoding:(?![ \t]*chunked[ \t]*\r$)/im,
    example: `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  },
  {
    name: 'the transfer coding twice',
    reason: 'RFC 9112, 6.1: chunked is applied once at most; another reader may take the chunks off twice',
    errors: ['unknown Transfer-Encoding'],
    applies: /^transfer-encoding:.*^transfer-encoding:/ims,
    example: `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  },
  {
    name: 'chunks in HTTP/1.0',
    reason: 'RFC 9112, 6.1: such a message has faulty framing, since HTTP/1.0 knows no chunks',
    errors: ['Transfer-Encoding with Content-Length or in HTTP/1.0'],
    applies: /^HTTP\/1\.0/m,
    example: 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  },
  {
    name: 'a tab after the transfer coding',
    reason: 'Node.js does not recognise `chunked` before it and reads until the connection ends; other readers do',
    errors: ['tab after the length or coding of a body'],
    applies: /^transfer-encoding:.*\t[ \t]*\r$/im,
    example: `${OK}Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n`,
  },
  {
    name: 'a tab after the length',
    reason:
      'readers such as Node.js 20 refuse it; a length that only some readers accept frames the body for those only',
    errors: ['tab after the length or coding of a body'],
    applies: /^content-length:.*\t[ \t]*\r$/im,
    example: `${OK}Content-Length: 1\t\r\n\r\nx`,
    acceptedBy: (major) => major >= STRICT_SINCE,
  },
  {
    name: 'a chunk size of more than 13 digits',
    reason: 'sizes above 2^53 cannot be counted, and no server writes so many leading zeros',
    errors: ['chunk is too large'],
    applies: /\r\n[0-9a-f]{14,}[;\r]/i,
    example: `${CHUNKED}00000000000001\r\nx\r\n0\r\n\r\n`,
  },
  {
    name: 'an extension of a chunk without name or value',
    reason:
      'RFC 9112, 7.1.1: both have at least one character; readers that disagree about extensions disagree about chunks',
    errors: ['malformed chunk extension'],
    applies: /;=|=\r\n|=;|;;/,
    example: `${CHUNKED}1;a=\r\nx\r\n0\r\n\r\n`,
  },
  {
    name: 'a quoted string after a token in an extension of a chunk',
    reason: 'RFC 9112, 7.1.1: a value is one or the other',
    errors: ['malformed chunk extension'],
    applies: /=[^;"\r\n]+"/,
    example: `${CHUNKED}1;a=b"c"\r\nx\r\n0\r\n\r\n`,
  },
];

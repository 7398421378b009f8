import { describe, expect, it } from 'vitest';
import { areTrailers, readRequestHead } from './request-head.js';

const LINE = [':method', 'GET', ':scheme', 'https', ':path', '/api?a=b', ':authority', 'server:6443'];
const line = (changes: Record<string, string | undefined>): string[] => {
  const fields: string[] = [];
  for (let i = 0; i < LINE.length; i += 2) {
    const value = LINE[i]! in changes ? changes[LINE[i]!] : LINE[i + 1];
    if (value !== undefined) fields.push(LINE[i]!, value);
  }
  return fields;
};

describe('readRequestHead', () => {
  it('returns method, target and headers, with :authority as Host', () => {
    expect(readRequestHead([...LINE, 'accept', '*/*', 'x-empty', '', 'x-inner', 'a \tb', 'x-latin', '\xe9'])).toEqual({
      method: 'GET',
      target: '/api?a=b',
      headers: ['accept', '*/*', 'x-empty', '', 'x-inner', 'a \tb', 'x-latin', '\xe9', 'host', 'server:6443'],
      contentLength: -1,
      expectsContinue: false,
    });
  });

  it('reads Expect: 100-continue as a client that holds its body back', () => {
    const expects = (value: string) => readRequestHead([...LINE, 'expect', value]);
    expect(expects('100-Continue')).toMatchObject({ expectsContinue: true });
    expect(expects('something else')).toMatchObject({ expectsContinue: false });
  });

  it('accepts Host in addition to :authority, or instead of it', () => {
    expect(readRequestHead([...LINE, 'host', 'SERVER:6443'])).toMatchObject({ headers: ['host', 'SERVER:6443'] });
    expect(readRequestHead([...line({ ':authority': undefined }), 'host', 'h'])).toMatchObject({
      headers: ['host', 'h'],
    });
  });

  it('joins split cookie fields', () => {
    expect(readRequestHead([...LINE, 'cookie', 'a=1', 'x', 'y', 'cookie', 'b=2'])).toMatchObject({
      headers: ['x', 'y', 'cookie', 'a=1; b=2', 'host', 'server:6443'],
    });
  });

  it('accepts OPTIONS *', () => {
    expect(readRequestHead(line({ ':method': 'OPTIONS', ':path': '*' }))).toMatchObject({ target: '*' });
  });

  it('accepts TE: trailers and Content-Length', () => {
    expect(readRequestHead([...LINE, 'te', 'trailers', 'content-length', '12'])).toMatchObject({ contentLength: 12 });
  });

  it.each<[string, string[]]>([
    ['no method', line({ ':method': undefined })],
    ['an empty method', line({ ':method': '' })],
    ['a method with a space', line({ ':method': 'GET /x' })],
    ['CONNECT', [':method', 'CONNECT', ':authority', 'elsewhere:443']],
    ['no scheme', line({ ':scheme': undefined })],
    ['an empty scheme', line({ ':scheme': '' })],
    ['no path', line({ ':path': undefined })],
    ['an empty path', line({ ':path': '' })],
    ['a path that is a URL', line({ ':path': 'http://other/' })],
    ['an asterisk outside OPTIONS', line({ ':path': '*' })],
    ['a space in the path', line({ ':path': '/a b' })],
    ['CRLF in the path', line({ ':path': '/ HTTP/1.1\r\nHost: x' })],
    ['a tab in the path', line({ ':path': '/\t' })],
    ['a NUL in the path', line({ ':path': '/\0' })],
    ['DEL in the path', line({ ':path': '/\x7f' })],
    ['a byte above 127 in the path', line({ ':path': '/caf\xc3\xa9' })],
    ['neither authority nor host', line({ ':authority': undefined })],
    ['an empty authority', line({ ':authority': '' })],
    ['an authority with a user', line({ ':authority': 'user@server' })],
    ['an authority with a path', line({ ':authority': 'server/path' })],
    ['CRLF in the authority', line({ ':authority': 'server\r\nx: y' })],
    ['a host that differs from the authority', [...LINE, 'host', 'other']],
    ['two hosts', [...LINE, 'host', 'server:6443', 'host', 'server:6443']],
    ['a pseudo-header twice', [...LINE, ':path', '/']],
    ['an unknown pseudo-header', [...LINE, ':protocol', 'websocket']],
    ['a pseudo-header of responses', [...LINE, ':status', '200']],
    ['a pseudo-header after other fields', [...line({ ':path': undefined }), 'a', 'b', ':path', '/']],
    ['an upper-case name', [...LINE, 'X-Thing', 'a']],
    ['an empty name', [...LINE, '', 'a']],
    ['a name with a space', [...LINE, 'a b', 'a']],
    ['a name with a colon', [...LINE, 'a:b', 'a']],
    ['CRLF in a name', [...LINE, 'a\r\nb', 'a']],
    ['a byte above 127 in a name', [...LINE, 'caf\xe9', 'a']],
    ['a line feed in a value', [...LINE, 'a', 'b\nc']],
    ['a carriage return in a value', [...LINE, 'a', 'b\rc']],
    ['NUL in a value', [...LINE, 'a', 'b\0c']],
    ['a control character in a value', [...LINE, 'a', 'b\x01c']],
    ['a space before a value', [...LINE, 'a', ' b']],
    ['a tab after a value', [...LINE, 'a', 'b\t']],
    ['CRLF in a cookie', [...LINE, 'cookie', 'a\r\nb']],
    ['Connection', [...LINE, 'connection', 'close']],
    ['Transfer-Encoding', [...LINE, 'transfer-encoding', 'chunked']],
    ['Upgrade', [...LINE, 'upgrade', 'x']],
    ['Keep-Alive', [...LINE, 'keep-alive', '1']],
    ['Proxy-Connection', [...LINE, 'proxy-connection', 'close']],
    ['TE other than trailers', [...LINE, 'te', 'gzip']],
    ['Content-Length twice', [...LINE, 'content-length', '1', 'content-length', '1']],
    ['Content-Length: +1', [...LINE, 'content-length', '+1']],
    ['a list in Content-Length', [...LINE, 'content-length', '1, 1']],
    ['Content-Length of 16 digits', [...LINE, 'content-length', '9999999999999999']],
    ['no fields', []],
  ])('refuses %s', (_, fields) => {
    expect(typeof readRequestHead(fields)).toBe('string');
  });

  it('returns the same result after the cache of names was cleared', () => {
    for (let i = 0; i < 3_000; i++) readRequestHead([...LINE, `x-${i}`, '1']);
    expect(typeof readRequestHead([...LINE, 'connection', 'close'])).toBe('string');
    expect(readRequestHead([...LINE, 'x-1', '1'])).toMatchObject({ method: 'GET' });
  });
});

describe('areTrailers', () => {
  it.each<[string[], boolean]>([
    [['x-sum', '1'], true],
    [[], true],
    [[':path', '/'], false],
    [['X-Sum', '1'], false],
    [['x-sum', 'a\n'], false],
    [['transfer-encoding', 'chunked'], false],
  ])('given %j returns %s', (fields, allowed) => {
    expect(areTrailers(fields)).toBe(allowed);
  });
});

import type { User } from '../contracts/user.js';

/** A malformed token file. */
export class TokenFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TokenFileError';
  }
}

/**
 * Parses a token file (`--token-auth-file`): CSV records of token, user name, uid and, optionally,
 * a quoted list of groups. Records without a token are skipped; of two for one token the last one
 * counts.
 */
export function readTokenFile(content: string): Map<string, User> {
  const users = new Map<string, User>();
  for (const record of csvRecords(content)) {
    if (record.length < 3) {
      const found = `found ${record.length}`;
      throw new TokenFileError(`the token file must have at least 3 columns (token, user name, user uid), ${found}`);
    }
    const [token, name, uid, groups] = record as [string, string, string, string?];
    if (token === '') continue;
    users.set(token, { name, uid, groups: groups?.split(',') ?? [], extra: new Map() });
  }
  return users;
}

/** RFC 4180, with line ends of either kind; empty lines are skipped. */
function* csvRecords(content: string): Generator<string[]> {
  let record: string[] = [];
  let at = 0;
  while (at < content.length) {
    const field = content[at] === '"' ? quotedField(content, at) : plainField(content, at);
    record.push(field.value);
    at = field.end;
    if (content[at] === ',') {
      at++;
      // A comma at the end of a line is followed by an empty field.
      if (at < content.length && content[at] !== '\n' && content[at] !== '\r') continue;
      record.push('');
    }
    at = lineEnd(content, at);
    if (record.length > 1 || record[0] !== '') yield record;
    record = [];
  }
}

function plainField(content: string, start: number): { value: string; end: number } {
  let end = start;
  while (end < content.length && content[end] !== ',' && content[end] !== '\n') {
    if (content[end] === '"') throw new TokenFileError('a quote inside an unquoted field of the token file');
    end++;
  }
  const isLast = content[end] !== ',';
  return { value: isLast ? content.slice(start, end).replace(/\r$/, '') : content.slice(start, end), end };
}

function quotedField(content: string, start: number): { value: string; end: number } {
  let value = '';
  for (let at = start + 1; ; at++) {
    const next = content.indexOf('"', at);
    if (next < 0) throw new TokenFileError('a quoted field of the token file does not end');
    value += content.slice(at, next);
    if (content[next + 1] !== '"') {
      const after = content[next + 1];
      if (after !== undefined && !',\r\n'.includes(after)) {
        throw new TokenFileError('something follows a quoted field of the token file');
      }
      return { value, end: next + 1 };
    }
    value += '"';
    at = next + 1;
  }
}

function lineEnd(content: string, start: number): number {
  let at = start;
  if (content[at] === '\r') at++;
  if (content[at] === '\n') at++;
  return at;
}

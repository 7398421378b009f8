import { headerValue, headerValues, type RawHeaders } from '../../http/headers.js';
import type { EstablishedIdentity } from '../../http/identity.js';
import { StatusError } from '../../kube/status-error.js';
import { textFromWire } from './header-text.js';

/** Identity headers of a front proxy, as in kube-apiserver's `--requestheader-*` flags. */
export interface RequestHeaderNames {
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export const DEFAULT_REQUEST_HEADERS: RequestHeaderNames = {
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};

/** Returns the names for comparison: lower case, trimmed, defaults where none are configured. */
export function requestHeaderReader(names: Partial<RequestHeaderNames>): RequestHeaderNames {
  const lower = (configured: readonly string[] | undefined, fallback: readonly string[]) => {
    const given = (configured ?? []).map((name) => name.trim()).filter((name) => name !== '');
    return (given.length > 0 ? given : fallback).map((name) => name.toLowerCase());
  };
  return {
    usernameHeaders: lower(names.usernameHeaders, DEFAULT_REQUEST_HEADERS.usernameHeaders),
    uidHeaders: lower(names.uidHeaders, DEFAULT_REQUEST_HEADERS.uidHeaders),
    groupHeaders: lower(names.groupHeaders, DEFAULT_REQUEST_HEADERS.groupHeaders),
    extraHeaderPrefixes: lower(names.extraHeaderPrefixes, DEFAULT_REQUEST_HEADERS.extraHeaderPrefixes),
  };
}

/**
 * Returns the identity in the headers of a verified front proxy; undefined without a user. `names`
 * in lower case.
 */
export function identityFromHeaders(headers: RawHeaders, names: RequestHeaderNames): EstablishedIdentity | undefined {
  const user = firstNonEmpty(headers, names.usernameHeaders);
  if (user === '') return undefined;
  const groups = names.groupHeaders.flatMap((name) => headerValues(headers, name)).filter((group) => group !== '');
  return {
    kind: 'established',
    user: readable(user),
    uid: readable(firstNonEmpty(headers, names.uidHeaders)),
    groups: groups.map(readable),
    extra: readExtra(headers, names.extraHeaderPrefixes),
  };
}

/** Returns the first non-empty value of the names. Only the first field of each name is read. */
function firstNonEmpty(headers: RawHeaders, lowerNames: readonly string[]): string {
  for (const name of lowerNames) {
    const value = headerValue(headers, name);
    if (value) return value;
  }
  return '';
}

function readExtra(headers: RawHeaders, lowerPrefixes: readonly string[]): Map<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of lowerPrefixes) {
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!.toLowerCase();
      if (!name.startsWith(prefix)) continue;
      const key = unescapeKey(name.slice(prefix.length));
      const values = extra.get(key);
      if (values) values.push(readable(headers[i + 1]!));
      else extra.set(key, [readable(headers[i + 1]!)]);
    }
  }
  return extra;
}

/** Decodes percent-encoded octets; a key with an invalid escape is returned unchanged. */
function unescapeKey(key: string): string {
  if (!key.includes('%') || /%(?![0-9a-f]{2})/.test(key)) return key;
  try {
    return decodeURIComponent(key);
  } catch {
    throw unreadable();
  }
}

function readable(value: string): string {
  const text = textFromWire(value);
  if (text === undefined) throw unreadable();
  return text;
}

function unreadable(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', {
    causes: [{ reason: 'IdentityUnreadable', message: 'an identity header of the front proxy is not UTF-8' }],
  });
}

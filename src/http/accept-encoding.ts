import { headerValue, headerValues, type RawHeaders } from './headers.js';

/** Above what real clients send; the rest is ignored, so a hostile field costs bounded work. */
const CODINGS_MAX = 32;

/** Returns whether the client accepts gzip (RFC 9110, 12.5.3). `*` includes gzip without `q=0`. */
export function takesGzip(headers: RawHeaders): boolean {
  // Fast path: the value of Go's client, in nearly every request.
  if (headerValue(headers, 'accept-encoding') === 'gzip') return true;
  let star = false;
  for (const { coding, refused } of codings(headers)) {
    if (coding === 'gzip' || coding === 'x-gzip') return !refused;
    if (coding === '*' && !refused) star = true;
  }
  return star;
}

/** Returns whether the client accepts a reply without compression: not if `identity`, or `*` without it, has `q=0`. */
export function takesIdentity(headers: RawHeaders): boolean {
  let star = true;
  for (const { coding, refused } of codings(headers)) {
    if (coding === 'identity') return !refused;
    if (coding === '*') star = !refused;
  }
  return star;
}

function codings(headers: RawHeaders): { readonly coding: string; readonly refused: boolean }[] {
  const parts = headerValues(headers, 'accept-encoding').join(',').split(',', CODINGS_MAX);
  return parts.map((part) => {
    const [coding = '', ...params] = part.split(';').map((word) => word.trim().toLowerCase());
    return { coding, refused: params.some((param) => /^q=0(\.0*)?$/.test(param)) };
  });
}

import { headerValue, headerValues, type RawHeaders } from './headers.js';

/** Above what real clients send; the rest is ignored, so a hostile field costs bounded work. */
const CODINGS_MAX = 32;

/** Returns whether the client accepts gzip (RFC 9110, 12.5.3). `*` includes gzip without `q=0`. */
export function takesGzip(headers: RawHeaders): boolean {
  // Fast path: the value of Go's client, in nearly every request.
  if (headerValue(headers, 'accept-encoding') === 'gzip') return true;
  let star = false;
  for (const part of headerValues(headers, 'accept-encoding').join(',').split(',', CODINGS_MAX)) {
    const [coding = '', ...params] = part.split(';').map((word) => word.trim().toLowerCase());
    const refused = params.some((param) => /^q=0(\.0*)?$/.test(param));
    if (coding === 'gzip' || coding === 'x-gzip') return !refused;
    if (coding === '*' && !refused) star = true;
  }
  return star;
}

/** Static table (RFC 7541, appendix A). Entry 0 is empty, so that wire indexes need no offset. */
const ENTRIES = `
:authority
:method=GET
:method=POST
:path=/
:path=/index.html
:scheme=http
:scheme=https
:status=200
:status=204
:status=206
:status=304
:status=400
:status=404
:status=500
accept-charset
accept-encoding=gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`.split('\n');

export const STATIC_NAMES: readonly string[] = ENTRIES.map((entry) => entry.split('=', 1)[0]!);
export const STATIC_VALUES: readonly string[] = ENTRIES.map((entry) => entry.split('=')[1] ?? '');

export const STATIC_LAST = ENTRIES.length - 1;

/** Returns the first index of a name, or undefined without an entry. */
export function staticIndexOfName(name: string): number | undefined {
  const index = name === '' ? -1 : STATIC_NAMES.indexOf(name);
  return index < 0 ? undefined : index;
}

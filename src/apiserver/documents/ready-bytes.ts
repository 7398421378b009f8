import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { takesGzip } from '../../http/accept-encoding.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValues, type RawHeaders } from '../../http/headers.js';

const gzipBytes = promisify(gzip);

/** As in kube-apiserver: below this, compressing costs more than it saves. */
export const GZIP_BYTES_MIN = 128 * 1024;
/** kube-apiserver's choice: the fastest already makes a tenth of these documents. */
const GZIP_LEVEL = 1;

/** What kube-apiserver says of every answer that nothing else was said of. */
export const NOT_CACHED = 'no-cache, private';

/** A document as it goes out, worked out once. Immutable. */
export class ReadyBytes {
  /** Upper-case SHA-512 of the content, the same on every server that has the same content. */
  readonly hash: string;
  #gzipped: Promise<Buffer> | undefined;

  constructor(
    readonly contentType: string,
    readonly bytes: Buffer,
    /** Where the content is known by something else than these bytes, such as another encoding of it. */
    hash?: string,
  ) {
    this.hash = hash ?? createHash('sha512').update(bytes).digest('hex').toUpperCase();
  }

  gzipped(): Promise<Buffer> {
    this.#gzipped ??= gzipBytes(this.bytes, { level: GZIP_LEVEL });
    return this.#gzipped;
  }
}

/** Kubernetes ends JSON that its own encoder wrote with a line feed. */
export function jsonBytes(value: unknown, contentType = 'application/json'): ReadyBytes {
  return new ReadyBytes(contentType, Buffer.from(`${JSON.stringify(value)}\n`));
}

export interface ReplyOptions {
  readonly cacheControl: string;
  /** With a tag the client may ask whether it still has the document; kube-apiserver gives none to its legacy lists. */
  readonly tagged: boolean;
  readonly more?: RawHeaders;
}

const PLAIN: ReplyOptions = { cacheControl: NOT_CACHED, tagged: false };

export async function replyWith(
  document: ReadyBytes,
  exchange: Pick<Exchange, 'method' | 'headers'>,
  { cacheControl, tagged, more = [] }: ReplyOptions = PLAIN,
): Promise<Reply> {
  const etag = `"${document.hash}"`;
  const common = ['Cache-Control', cacheControl, ...(tagged ? ['Etag', etag, 'Vary', 'Accept'] : []), ...more];
  if (tagged && hasCurrent(exchange.headers, etag)) return { status: 304, headers: common, body: null };
  const isLarge = document.bytes.length > GZIP_BYTES_MIN;
  const compressed = isLarge && takesGzip(exchange.headers);
  const bytes = compressed ? await document.gzipped() : document.bytes;
  const headers = ['Content-Type', document.contentType, 'Content-Length', String(bytes.length), ...common];
  if (isLarge) headers.push('Vary', 'Accept-Encoding');
  if (compressed) headers.push('Content-Encoding', 'gzip');
  return { status: 200, headers, body: exchange.method === 'HEAD' ? null : bytes };
}

/** RFC 9110, 13.1.2: a list of tags or `*`, compared weakly. */
function hasCurrent(headers: RawHeaders, etag: string): boolean {
  const tags = headerValues(headers, 'if-none-match').flatMap((field) => field.split(','));
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

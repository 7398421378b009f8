import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { takesGzip } from './accept-encoding.js';
import type { Exchange, Reply } from './exchange.js';
import { headerValues, type RawHeaders } from './headers.js';

const gzipBytes = promisify(gzip);

export interface GzipOptions {
  readonly level: number;
  /** Fewer bytes are never compressed. */
  readonly bytesMin: number;
}

/** The fastest level, and only for large bodies, as in kube-apiserver. */
export const KUBE_APISERVER_GZIP: GzipOptions = { level: 1, bytesMin: 128 * 1024 };

/** Cache-Control of kube-apiserver for all replies that have no other. */
export const NOT_CACHED: RawHeaders = ['Cache-Control', 'no-cache, private'];

/** Compresses bytes; undefined if they are too few or the client does not accept gzip. */
export function gzipFor(
  headers: RawHeaders,
  bytes: Buffer,
  { level, bytesMin }: GzipOptions,
): Promise<Buffer> | undefined {
  return bytes.byteLength >= bytesMin && takesGzip(headers) ? gzipBytes(bytes, { level }) : undefined;
}

/** Bytes for many clients. Immutable; hashed once, and compressed at most once. */
export class ReadyDocument {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly hash: string;
  /** Strong. */
  readonly etag: string;
  readonly #gzip: GzipOptions;
  #gzipped: Promise<Buffer> | undefined;

  /** `hash` replaces that of the bytes, for content that is known by another encoding of it. */
  constructor(contentType: string, bytes: Buffer, gzip: GzipOptions, hash: string = hashOf(bytes)) {
    this.contentType = contentType;
    this.bytes = bytes;
    this.hash = hash;
    this.etag = `"${hash}"`;
    this.#gzip = gzip;
  }

  get compressible(): boolean {
    return this.bytes.byteLength >= this.#gzip.bytesMin;
  }

  gzipped(): Promise<Buffer> {
    this.#gzipped ??= gzipBytes(this.bytes, { level: this.#gzip.level });
    return this.#gzipped;
  }
}

/** Returns the hash of kube-apiserver's ETags: upper-case SHA-512. */
export function hashOf(content: string | Uint8Array): string {
  return createHash('sha512').update(content).digest('hex').toUpperCase();
}

/** Makes a document of JSON with a line feed at its end, as Kubernetes writes JSON. */
export function jsonDocument(value: unknown, contentType: string, gzipOptions: GzipOptions): ReadyDocument {
  return new ReadyDocument(contentType, Buffer.from(`${JSON.stringify(value)}\n`), gzipOptions);
}

/**
 * Replies to a GET or HEAD with a document: compressed if the client accepts that, 304 if the
 * client has it. A document that is not `tagged` has no ETag, like the legacy lists of
 * kube-apiserver.
 */
export async function documentReply(
  document: ReadyDocument,
  { method, headers }: Pick<Exchange, 'method' | 'headers'>,
  more: RawHeaders = NOT_CACHED,
  tagged = true,
): Promise<Reply> {
  const common = [...more];
  if (tagged) common.push('Etag', document.etag, 'Vary', document.compressible ? 'Accept, Accept-Encoding' : 'Accept');
  else if (document.compressible) common.push('Vary', 'Accept-Encoding');
  if (tagged && hasCurrent(headers, document.etag)) return { status: 304, headers: common, body: null };

  const compressed = document.compressible && takesGzip(headers);
  const bytes = compressed ? await document.gzipped() : document.bytes;
  const content = ['Content-Type', document.contentType, 'Content-Length', String(bytes.byteLength)];
  if (compressed) content.push('Content-Encoding', 'gzip');
  return { status: 200, headers: [...content, ...common], body: method === 'HEAD' ? null : bytes };
}

/** RFC 9110, 13.1.2: a list of tags or `*`, compared weakly. */
function hasCurrent(headers: RawHeaders, etag: string): boolean {
  for (const field of headerValues(headers, 'if-none-match')) {
    if (field === etag || field.trim() === '*') return true;
    for (const tag of field.split(',')) {
      if (tag.trim().replace(/^W\//, '') === etag) return true;
    }
  }
  return false;
}

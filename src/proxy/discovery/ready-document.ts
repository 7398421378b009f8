import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { takesGzip } from '../../http/accept-encoding.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValues, type RawHeaders } from '../../http/headers.js';

const gzipBytes = promisify(gzip);

/** Below this a compressed answer saves no packet. */
const GZIP_BYTES_MIN = 1_024;
/** Fixed, as is zlib's header (no time, no name): every server must make the same bytes. */
const GZIP_LEVEL = 5;

/** Bytes that are served as they are to every client, with everything about them worked out once. */
export class ReadyDocument {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** Strong, over the content; in the spelling of kube-apiserver: quoted upper-case SHA-512. */
  readonly etag: string;
  #gzipped: Promise<Buffer> | undefined;

  constructor(contentType: string, bytes: Buffer, etag: string = etagOf(bytes)) {
    this.contentType = contentType;
    this.bytes = bytes;
    this.etag = etag;
  }

  /** Compressed once, at the first request that wants it. */
  gzipped(): Promise<Buffer> {
    this.#gzipped ??= gzipBytes(this.bytes, { level: GZIP_LEVEL });
    return this.#gzipped;
  }

  get compressible(): boolean {
    return this.bytes.length >= GZIP_BYTES_MIN;
  }
}

export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`;
}

/** Kubernetes ends its JSON with a line feed. */
export function jsonDocument(value: unknown, contentType: string): ReadyDocument {
  return new ReadyDocument(contentType, Buffer.from(`${JSON.stringify(value)}\n`));
}

/** Answers a GET or HEAD with a document: 304 if the client has it, compressed if the client takes that. */
export async function answerWith(
  document: ReadyDocument,
  exchange: Pick<Exchange, 'method' | 'headers'>,
  more: RawHeaders = [],
): Promise<Reply> {
  const validators = [
    'Etag',
    document.etag,
    'Vary',
    document.compressible ? 'Accept, Accept-Encoding' : 'Accept',
    ...more,
  ];
  if (hasCurrent(exchange.headers, document.etag)) return { status: 304, headers: validators, body: null };

  const compressed = document.compressible && takesGzip(exchange.headers);
  const bytes = compressed ? await document.gzipped() : document.bytes;
  const headers = [
    'Content-Type',
    document.contentType,
    'Content-Length',
    String(bytes.length),
    ...(compressed ? ['Content-Encoding', 'gzip'] : []),
    ...validators,
  ];
  return { status: 200, headers, body: exchange.method === 'HEAD' ? null : bytes };
}

/** RFC 9110, 13.1.2: a list of tags or `*`, compared weakly. */
export function hasCurrent(headers: RawHeaders, etag: string): boolean {
  for (const field of headerValues(headers, 'if-none-match')) {
    if (field === etag || field.trim() === '*') return true;
    for (const tag of field.split(',')) {
      if (tag.trim().replace(/^W\//, '') === etag) return true;
    }
  }
  return false;
}

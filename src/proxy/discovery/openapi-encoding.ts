import { createHash } from 'node:crypto';
import type { Exchange } from '../../http/exchange.js';
import { headerValues } from '../../http/headers.js';
import { chooseMediaType } from '../../kube/accept.js';

export type OpenApiVersion = 'v2' | 'v3';
export type OpenApiEncoding = 'json' | 'protobuf';

export function openApiMediaType(version: OpenApiVersion, encoding: OpenApiEncoding): string {
  return encoding === 'json'
    ? 'application/json'
    : `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
}

/**
 * Returns the encoding for a client; undefined if it accepts neither. `@` is in the former name of
 * the protobuf type.
 */
export function chooseOpenApiEncoding(exchange: Exchange, version: OpenApiVersion): OpenApiEncoding | undefined {
  const accept = headerValues(exchange.headers, 'accept');
  const protobuf = openApiMediaType(version, 'protobuf');
  const offered = ['application/json', protobuf, protobuf.replace('.v1.0', '@v1.0')];
  const chosen = chooseMediaType(accept.length === 0 ? undefined : accept.join(','), offered);
  return chosen === undefined ? undefined : chosen === 'application/json' ? 'json' : 'protobuf';
}

/**
 * Returns the hash of a merged document. It is known before the document is made, and the same on
 * every server. `hashes` are in order of precedence, which is part of the content.
 */
export function combinedHash(hashes: readonly string[]): string {
  if (hashes.length === 1) return hashes[0]!;
  return createHash('sha512')
    .update(`merged\n${hashes.join('\n')}`)
    .digest('hex')
    .toUpperCase();
}

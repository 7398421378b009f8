import type { Exchange } from '../../http/exchange.js';
import { headerList } from '../../http/headers.js';
import { hashOf } from '../../http/ready-document.js';
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
  const protobuf = openApiMediaType(version, 'protobuf');
  const offered = ['application/json', protobuf, protobuf.replace('.v1.0', '@v1.0')];
  const chosen = chooseMediaType(headerList(exchange.headers, 'accept'), offered);
  return chosen === undefined ? undefined : chosen === 'application/json' ? 'json' : 'protobuf';
}

/**
 * Returns the hash of a merged document. It is known before the document is made, and the same on
 * every server. `hashes` are in order of precedence, which is part of the content.
 */
export function combinedHash(hashes: readonly string[]): string {
  return hashes.length === 1 ? hashes[0]! : hashOf(`merged\n${hashes.join('\n')}`);
}

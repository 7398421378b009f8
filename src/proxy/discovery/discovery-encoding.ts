import { type GzipOptions, jsonDocument, ReadyDocument } from '../../http/ready-document.js';
import type { DiscoveryEncoding } from '../../kube/accept.js';
import { type DiscoveryDocument, encodeDiscoveryProtobuf } from './discovery-protobuf.js';

/**
 * From the size on at which compression saves a packet. The level is fixed: every server must make
 * the same bytes, and zlib's header has neither time nor name.
 */
export const MERGED_GZIP: GzipOptions = { level: 5, bytesMin: 1_024 };

/** The encodings implemented here; CBOR is left to the host. */
export type DocumentEncoding = Exclude<DiscoveryEncoding, 'cbor'>;

export function canEncode(encoding: DiscoveryEncoding): encoding is DocumentEncoding {
  return encoding !== 'cbor';
}

const MEDIA_TYPES: Readonly<Record<DocumentEncoding, string>> = {
  json: 'application/json',
  // Every JSON document is a YAML document.
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

export function encodeDocument(document: DiscoveryDocument, encoding: DocumentEncoding, params = ''): ReadyDocument {
  const contentType = `${MEDIA_TYPES[encoding]}${params}`;
  return encoding === 'protobuf'
    ? new ReadyDocument(contentType, encodeDiscoveryProtobuf(document), MERGED_GZIP)
    : jsonDocument(document, contentType, MERGED_GZIP);
}

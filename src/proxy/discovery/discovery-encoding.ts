import type { DiscoveryEncoding } from '../../kube/accept.js';
import { type DiscoveryDocument, encodeDiscoveryProtobuf } from './discovery-protobuf.js';
import { jsonDocument, ReadyDocument } from './ready-document.js';

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
    ? new ReadyDocument(contentType, encodeDiscoveryProtobuf(document))
    : jsonDocument(document, contentType);
}

import { ProtobufError, WireReader, WireWriter } from '../base/protobuf-wire.js';

/** The first bytes of every object in Kubernetes' protobuf; runtime.Unknown follows. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** More than magic bytes, tags, lengths and the usual names of types take. */
const ENVELOPE_BYTES = 128;

/** A message and its kind. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
}

export function isEnveloped(bytes: Buffer): boolean {
  return bytes.subarray(0, MAGIC.length).equals(MAGIC);
}

export function openEnvelope(bytes: Buffer): Envelope {
  if (!isEnveloped(bytes)) {
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${[...MAGIC].join(' ')}]`,
    );
  }
  const typeMeta: Buffer[] = [];
  let raw: Buffer = Buffer.alloc(0);
  const reader = new WireReader(bytes.subarray(MAGIC.length));
  while (reader.next()) {
    if (reader.field > 4) continue;
    const value = reader.bytes();
    if (reader.field === 1) typeMeta.push(value);
    else if (reader.field === 2) raw = value;
    else if (reader.field === 3 && value.length > 0) throw new ProtobufError('the content is encoded');
  }
  return { ...identity(Buffer.concat(typeMeta)), raw };
}

export function closeEnvelope({ apiVersion, kind, raw }: Envelope): Buffer {
  return new WireWriter(raw.length + ENVELOPE_BYTES)
    .raw(MAGIC)
    .message(1, (typeMeta) => typeMeta.text(1, apiVersion).text(2, kind))
    .bytes(2, raw)
    .text(3, '')
    .text(4, '')
    .finish();
}

function identity(typeMeta: Buffer): { apiVersion: string; kind: string } {
  const reader = new WireReader(typeMeta);
  let apiVersion = '';
  let kind = '';
  while (reader.next()) {
    if (reader.field === 1) apiVersion = reader.text();
    else if (reader.field === 2) kind = reader.text();
  }
  return { apiVersion, kind };
}

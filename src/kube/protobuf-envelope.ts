import { ProtobufError } from '../apiserver/protobuf/protobuf-error.js';
import { DELIMITED, WireReader } from '../apiserver/protobuf/wire-reader.js';
import { WireWriter } from '../apiserver/protobuf/wire-writer.js';

/** What every object is preceded by, so that no one takes it for anything else. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** A message and the kind that it is of. */
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
    if (reader.number > 4) {
      reader.skip();
      continue;
    }
    reader.expect(DELIMITED);
    const value = reader.delimited();
    if (reader.number === 1) typeMeta.push(value);
    else if (reader.number === 2) raw = value;
    else if (reader.number === 3 && value.length > 0) throw new ProtobufError('the content is encoded');
  }
  return { ...identity(Buffer.concat(typeMeta)), raw };
}

export function closeEnvelope({ apiVersion, kind, raw }: Envelope): Buffer {
  const typeMeta = new WireWriter();
  typeMeta.string(1, apiVersion);
  typeMeta.string(2, kind);
  const unknown = new WireWriter();
  unknown.delimited(1, typeMeta.finish());
  unknown.delimited(2, raw);
  unknown.string(3, '');
  unknown.string(4, '');
  return Buffer.concat([MAGIC, unknown.finish()]);
}

function identity(typeMeta: Buffer): { apiVersion: string; kind: string } {
  const reader = new WireReader(typeMeta);
  let apiVersion = '';
  let kind = '';
  while (reader.next()) {
    if (reader.number > 2) {
      reader.skip();
      continue;
    }
    reader.expect(DELIMITED);
    const value = reader.delimited().toString('utf8');
    if (reader.number === 1) apiVersion = value;
    else kind = value;
  }
  return { apiVersion, kind };
}

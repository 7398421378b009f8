import type { Status } from '../kube/status.js';

export interface EncodedStatus {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/**
 * A Status in the first form that the Accept header names among those that can be written here: JSON, YAML (of which
 * JSON is a subset) and Kubernetes' protobuf. Everything else gets JSON, as from kube-apiserver.
 */
export function encodeStatus(status: Status, accept: string | undefined): EncodedStatus {
  for (const range of (accept ?? '').split(',', 16)) {
    const mediaType = range.split(';', 1)[0]!.trim().toLowerCase();
    if (mediaType === 'application/vnd.kubernetes.protobuf') return { contentType: mediaType, bytes: protobuf(status) };
    if (mediaType === 'application/yaml') return { contentType: mediaType, bytes: json(status) };
    if (mediaType === 'application/json' || mediaType === '*/*') break;
  }
  return { contentType: 'application/json', bytes: json(status) };
}

function json(status: Status): Uint8Array {
  return Buffer.from(`${JSON.stringify(status)}\n`);
}

/** Kubernetes' envelope: four magic bytes, then runtime.Unknown with the type's name and the encoded object. */
const PROTOBUF_MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

function protobuf(status: Status): Uint8Array {
  const { details } = status;
  const object = Buffer.concat([
    field(1, Buffer.alloc(0)),
    field(2, status.status),
    field(3, status.message),
    field(4, status.reason ?? ''),
    ...(details
      ? [
          field(
            5,
            Buffer.concat([
              field(1, details.name ?? ''),
              field(2, details.group ?? ''),
              field(3, details.kind ?? ''),
              ...(details.causes ?? []).map((cause) =>
                field(4, Buffer.concat([field(1, cause.reason), field(2, cause.message), field(3, cause.field ?? '')])),
              ),
              number(5, details.retryAfterSeconds ?? 0),
            ]),
          ),
        ]
      : []),
    number(6, status.code),
  ]);
  const typeMeta = Buffer.concat([field(1, status.apiVersion), field(2, status.kind)]);
  return Buffer.concat([PROTOBUF_MAGIC, field(1, typeMeta), field(2, object), field(3, ''), field(4, '')]);
}

function field(id: number, value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint((id << 3) | 2), varint(bytes.byteLength), bytes]);
}

function number(id: number, value: number): Buffer {
  return Buffer.concat([varint(id << 3), varint(value)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

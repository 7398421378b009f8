import { WireWriter } from '../base/protobuf-wire.js';
import { closeEnvelope } from './protobuf-envelope.js';
import type { Status } from './status.js';

export interface EncodedStatus {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/**
 * Encodes a Status in the first form in the Accept header that is implemented: JSON, YAML (a
 * superset of JSON) or Kubernetes protobuf. JSON by default, as in kube-apiserver.
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

function protobuf({ apiVersion, kind, status, message, reason, details, code }: Status): Uint8Array {
  const writer = new WireWriter()
    .text(1, '')
    .text(2, status)
    .text(3, message)
    .text(4, reason ?? '');
  if (details) {
    writer.message(5, () => {
      writer
        .text(1, details.name ?? '')
        .text(2, details.group ?? '')
        .text(3, details.kind ?? '');
      for (const cause of details.causes ?? []) {
        writer.message(4, () =>
          writer
            .text(1, cause.reason)
            .text(2, cause.message)
            .text(3, cause.field ?? ''),
        );
      }
      writer.number(5, details.retryAfterSeconds ?? 0);
    });
  }
  return closeEnvelope({ apiVersion, kind, raw: writer.number(6, code).finish() });
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { decodeProtobuf } from './decode-protobuf.js';
import { encodeProtobuf } from './encode-protobuf.js';
import { encodeWatchFrame, PROTOBUF_WATCH_MEDIA_TYPE } from './watch-frame.js';

/** What a real kube-apiserver answered, recorded by test/real/record-protobuf.ts. */
interface Recorded {
  readonly objects: readonly { readonly path: string; readonly json: JsonObject; readonly protobuf: string }[];
  readonly watch: {
    readonly contentType: string;
    readonly events: readonly { readonly type: string; readonly object: JsonObject }[];
    readonly protobuf: string;
  };
}

const { objects, watch } = JSON.parse(
  readFileSync(new URL('./objects.recorded.json', import.meta.url), 'utf8'),
) as Recorded;

describe('protobuf recorded from a real kube-apiserver', () => {
  it.each(objects.map((each) => [each.json['kind'], each.path, each] as const))(
    'is decoded to the recorded JSON: %s at %s',
    (_kind, _path, { json, protobuf }) => {
      const decoded = decodeProtobuf(Buffer.from(protobuf, 'base64'));
      expect(decoded.object).toEqual(json);
      expect(decoded).toMatchObject({ apiVersion: json['apiVersion'], kind: json['kind'] });
    },
  );

  it.each(objects.map((each) => [each.json['kind'], each.path, each] as const))(
    'is encoded to the recorded bytes: %s at %s',
    (_kind, _path, { json, protobuf }) => {
      const bytes = encodeProtobuf(json)!;
      expect(decodeProtobuf(bytes).object).toEqual(json);
      expect(bytes.toString('base64')).toBe(protobuf);
    },
  );

  it('is encoded to the recorded watch frames', () => {
    expect(watch.contentType).toBe(PROTOBUF_WATCH_MEDIA_TYPE);
    const frames = watch.events.map(({ type, object }) => encodeWatchFrame(type, object)!);
    expect(frames.length).toBeGreaterThan(0);
    expect(Buffer.concat(frames).toString('base64')).toBe(watch.protobuf);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { protobufFrame } from './watch-events.fixture.js';
import { WatchEvents } from './watch-events.js';
import { PROTOBUF_EVENTS } from './watch-protobuf-events.js';

/** Objects and events of a real kube-apiserver. */
const RECORDED = JSON.parse(
  readFileSync(new URL('../../apiserver/protobuf/objects.recorded.json', import.meta.url), 'utf8'),
) as {
  readonly objects: readonly {
    readonly path: string;
    readonly json: { readonly metadata: { readonly name?: string; readonly resourceVersion?: string } };
    readonly protobuf: string;
  }[];
  readonly watch: { readonly protobuf: string };
};

describe('watch events in protobuf', () => {
  it('are read from a recorded watch of kube-apiserver', () => {
    const bytes = Buffer.from(RECORDED.watch.protobuf, 'base64');
    for (let cut = 0; cut <= bytes.length; cut++) {
      const events = new WatchEvents(PROTOBUF_EVENTS, 'nothing');
      const passed: Uint8Array[] = [];
      for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)])
        events.take(piece, (part) => passed.push(part));
      expect(Buffer.concat(passed).equals(bytes)).toBe(true);
      expect(events.position()).toEqual({ kind: 'from', resourceVersion: '205' });
    }
  });

  it.each(RECORDED.objects.filter(({ json: { metadata } }) => metadata.name && metadata.resourceVersion))(
    'have the resourceVersion of $path',
    ({ json, protobuf }) => {
      const frame = protobufFrame('MODIFIED', Buffer.from(protobuf, 'base64'));
      const { resourceVersion } = json.metadata;
      expect(PROTOBUF_EVENTS.skim(frame)).toEqual({ type: 'MODIFIED', resourceVersion });
    },
  );
});

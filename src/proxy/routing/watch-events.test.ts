import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CBOR_EVENTS } from './watch-cbor-events.js';
import {
  cborHead,
  JSON_WATCH,
  protobufFrame,
  type SentEvent,
  WATCH_ENCODINGS,
  type WatchEncoding,
} from './watch-events.fixture.js';
import { EVENT_BYTES_MAX, type EventFormat, WatchEvents } from './watch-events.js';
import { JSON_EVENTS } from './watch-json-events.js';
import { PROTOBUF_EVENTS } from './watch-protobuf-events.js';
import type { WatchBeginning } from './watch-request.js';

const event = (type: string, resourceVersion: string | number, spec?: unknown): SentEvent => ({
  type,
  object: { kind: 'Pod', metadata: { name: 'a', resourceVersion: String(resourceVersion) }, spec },
});

const END_OF_STATE: SentEvent = {
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '40', annotations: { 'k8s.io/initial-events-end': 'true' } } },
};

function feed(format: EventFormat, beginning: WatchBeginning, ...chunks: Uint8Array[]) {
  const events = new WatchEvents(format, beginning);
  const parts: Uint8Array[] = [];
  for (const chunk of chunks) events.take(chunk, (bytes) => parts.push(bytes));
  return { events, parts, passed: Buffer.concat(parts), position: events.position() };
}

describe.each(WATCH_ENCODINGS)('WatchEvents in $name', ({ format, encode }: WatchEncoding) => {
  const all = (...events: SentEvent[]) => Buffer.concat(events.map(encode));
  const positionAfter = (beginning: WatchBeginning, ...chunks: Uint8Array[]) =>
    feed(format, beginning, ...chunks).position;

  it('passes on events when they are whole', () => {
    const two = all(event('ADDED', 6), event('ADDED', 7));
    const { passed, position } = feed(format, 'nothing', two, encode(event('ADDED', 8)).subarray(0, 20));
    expect(passed).toEqual(two);
    expect(position).toEqual({ kind: 'from', resourceVersion: '7' });
  });

  it('passes on events without a copy', () => {
    const chunk = all(event('ADDED', 6), event('ADDED', 7), event('ADDED', 8)).subarray(0, -3);
    const { parts } = feed(format, 'nothing', chunk);
    expect(parts).toHaveLength(1);
    expect(parts[0]!.buffer).toBe(chunk.buffer);
    expect(parts[0]!.byteOffset).toBe(chunk.byteOffset);
  });

  it('has the position untouched until the first event is whole', () => {
    const { passed, position } = feed(format, 'state', encode(event('ADDED', 6)).subarray(0, -1));
    expect(passed).toHaveLength(0);
    expect(position).toEqual({ kind: 'untouched' });
  });

  it.each(['MODIFIED', 'DELETED', 'BOOKMARK'])(
    'has the position unsafe within the initial state, until a %s shows its end',
    (type) => {
      const state = all(event('ADDED', 6), event('ADDED', 3));
      expect(positionAfter('state', state)).toEqual({ kind: 'unsafe' });
      const change = encode(event(type, 9));
      for (let cut = 0; cut <= change.length; cut++) {
        const chunks = [
          Buffer.concat([state, change.subarray(0, cut)]),
          change.subarray(cut),
          encode(event('ADDED', 10)),
        ];
        expect(positionAfter('state', ...chunks)).toEqual({ kind: 'from', resourceVersion: '10' });
      }
    },
  );

  it('has the position unsafe until the bookmark that ends sendInitialEvents', () => {
    const changes = all(event('ADDED', 6), event('MODIFIED', 9), event('BOOKMARK', 10));
    expect(positionAfter('marked-state', changes)).toEqual({ kind: 'unsafe' });
    const ended = Buffer.concat([changes, encode(END_OF_STATE)]);
    expect(positionAfter('marked-state', ended)).toEqual({ kind: 'from', resourceVersion: '40' });
    for (let cut = 0; cut <= ended.length; cut++) {
      const position = positionAfter('marked-state', ended.subarray(0, cut), ended.subarray(cut));
      expect(position).toEqual({ kind: 'from', resourceVersion: '40' });
    }
  });

  it('has the position unsafe before the first event of a watch from now', () => {
    expect(positionAfter('now')).toEqual({ kind: 'unsafe' });
    expect(positionAfter('now', encode(event('ADDED', 3)))).toEqual({ kind: 'from', resourceVersion: '3' });
  });

  it('has the position over after an ERROR event', () => {
    const error = { type: 'ERROR', object: { kind: 'Status' } };
    expect(positionAfter('nothing', all(event('ADDED', 3), error))).toEqual({ kind: 'over' });
  });

  it('has the position unsafe after an event without a resourceVersion', () => {
    expect(positionAfter('nothing', all(event('ADDED', 3), { type: 'ADDED', object: { kind: 'Pod' } }))).toEqual({
      kind: 'unsafe',
    });
  });

  it('has a position after an event of 500 kB', () => {
    const large = encode(event('ADDED', 3, 'x'.repeat(500_000)));
    const chunks = Array.from({ length: 31 }, (_, i) => large.subarray(i * 16_384, (i + 1) * 16_384));
    const { passed, position } = feed(format, 'nothing', ...chunks);
    expect(passed.equals(large)).toBe(true);
    expect(position).toEqual({ kind: 'from', resourceVersion: '3' });
  });

  it('passes on an event beyond EVENT_BYTES_MAX in parts, and has no position after it', () => {
    const large = encode(event('ADDED', 4, 'x'.repeat(EVENT_BYTES_MAX)));
    const part = 1024 * 1024;
    const chunks = Array.from({ length: 5 }, (_, i) => large.subarray(i * part, (i + 1) * part));
    const { passed, position } = feed(
      format,
      'nothing',
      encode(event('ADDED', 3)),
      ...chunks,
      encode(event('ADDED', 5)),
    );
    expect(passed.equals(Buffer.concat([encode(event('ADDED', 3)), large, encode(event('ADDED', 5))]))).toBe(true);
    expect(position).toEqual({ kind: 'inside' });
  });

  it('holds back a bounded number of tiny pieces', () => {
    const piece = encode(event('ADDED', 4, 'x'.repeat(EVENT_BYTES_MAX / 2)));
    const events = new WatchEvents(format, 'nothing');
    let at = 0;
    let passedBytes = 0;
    const forward = (bytes: Uint8Array) => {
      passedBytes += bytes.byteLength;
    };
    for (; passedBytes === 0; at++) events.take(piece.subarray(at, at + 1), forward);
    expect(at).toBeLessThan(EVENT_BYTES_MAX / 100);
    expect(passedBytes).toBe(at);
  });

  it('reads the next event correctly after dropTail() dropped a part of one', () => {
    const next = encode(event('MODIFIED', 8, 'ü'));
    for (let cut = 0; cut < next.length; cut++) {
      const { events, parts } = feed(
        format,
        'nothing',
        Buffer.concat([encode(event('ADDED', 7)), next.subarray(0, cut)]),
      );
      expect(events.position()).toEqual({ kind: 'from', resourceVersion: '7' });
      events.dropTail();
      events.take(next, (bytes) => parts.push(bytes));
      expect(Buffer.concat(parts).equals(all(event('ADDED', 7), event('MODIFIED', 8, 'ü')))).toBe(true);
      expect(events.position()).toEqual({ kind: 'from', resourceVersion: '8' });
    }
  });

  const TWELVE = Array.from({ length: 12 }, (_, i) =>
    encode(event(i === 6 ? 'BOOKMARK' : 'ADDED', i + 1, { text: 'ü'.repeat(i), list: [i, -i, i / 7, true, null] })),
  );
  const BYTES = Buffer.concat(TWELVE);

  function expectAfter(end: number, passed: Uint8Array[], events: WatchEvents): void {
    let whole = 0;
    let count = 0;
    for (; count < TWELVE.length && whole + TWELVE[count]!.length <= end; count++) whole += TWELVE[count]!.length;
    expect(Buffer.concat(passed).equals(BYTES.subarray(0, whole))).toBe(true);
    if (count === 0) expect(events.position()).toEqual({ kind: 'untouched' });
    else if (count < 7) expect(events.position()).toEqual({ kind: 'unsafe' });
    else expect(events.position()).toEqual({ kind: 'from', resourceVersion: String(count) });
  }

  it('has the same result wherever the stream is split in two, and wherever it ends', () => {
    for (let cut = 0; cut <= BYTES.length; cut++) {
      const events = new WatchEvents(format, 'state');
      const passed: Uint8Array[] = [];
      events.take(BYTES.subarray(0, cut), (bytes) => passed.push(bytes));
      expectAfter(cut, passed, events);
      events.take(BYTES.subarray(cut), (bytes) => passed.push(bytes));
      expectAfter(BYTES.length, passed, events);
    }
  });

  it('has the same result for pieces of one byte', () => {
    const events = new WatchEvents(format, 'state');
    const passed: Uint8Array[] = [];
    for (let at = 0; at < BYTES.length; at++) events.take(BYTES.subarray(at, at + 1), (bytes) => passed.push(bytes));
    expectAfter(BYTES.length, passed, events);
  });

  it('has the same result however the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: BYTES.length }), { maxLength: 30 }), (cuts) => {
        const events = new WatchEvents(format, 'state');
        const passed: Uint8Array[] = [];
        const sorted = [0, ...cuts].sort((a, b) => a - b);
        for (let i = 1; i < sorted.length; i++) {
          if (sorted[i] === sorted[i - 1]) continue;
          events.take(BYTES.subarray(sorted[i - 1], sorted[i]), (bytes) => passed.push(bytes));
        }
        expectAfter(Math.max(0, ...cuts), passed, events);
      }),
    );
  });

  it('passes on all bytes in order and never throws, for any bytes', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(...TWELVE),
      fc.tuple(fc.constantFrom(...TWELVE), fc.nat(), fc.nat({ max: 255 })).map(([bytes, at, value]) => {
        const changed = Buffer.from(bytes);
        changed[at % changed.length] = value;
        return changed;
      }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.constantFrom<WatchBeginning>('nothing', 'state', 'marked-state', 'now'),
        (pieces, beginning) => {
          const { events, parts } = feed(format, beginning, ...pieces);
          events.flush((bytes) => parts.push(bytes));
          expect(Buffer.concat(parts).equals(Buffer.concat(pieces))).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('WatchEvents with malformed bytes', () => {
  const first = JSON_WATCH.encode(event('ADDED', 3));

  it.each([
    ['lines that are no objects, as JSON', JSON_EVENTS, Buffer.from('{\n  "type": "ADDED",\n')],
    ['lines of JSON, as protobuf', PROTOBUF_EVENTS, first],
    ['a frame of four gigabytes', PROTOBUF_EVENTS, Buffer.from('ffffffff0a05', 'hex')],
    ['a frame just beyond the bound', PROTOBUF_EVENTS, Buffer.from('004000010a05', 'hex')],
    ['an empty frame', PROTOBUF_EVENTS, Buffer.from('00000000', 'hex')],
    ['a frame with a truncated varint', PROTOBUF_EVENTS, Buffer.from('000000020aff', 'hex')],
    ['a frame with a varint of eleven bytes', PROTOBUF_EVENTS, Buffer.from(`0000000c08${'ff'.repeat(10)}01`, 'hex')],
    ['a type with a wrong wire type', PROTOBUF_EVENTS, Buffer.from('000000020801', 'hex')],
    ['a type that is longer than its frame', PROTOBUF_EVENTS, Buffer.from('000000030a7f41', 'hex')],
    ['an object with a wrong wire type', PROTOBUF_EVENTS, Buffer.from('000000050a01411001', 'hex')],
    ['an event without an object', PROTOBUF_EVENTS, Buffer.from('000000030a0141', 'hex')],
    ['an item that is no map', CBOR_EVENTS, Buffer.from('83010203', 'hex')],
    ['a string of four gigabytes', CBOR_EVENTS, cborHead(2, 0xffff_ffff)],
    ['a map of an indefinite length', CBOR_EVENTS, Buffer.from('bf', 'hex')],
  ])('passes them on and has no position: %s', (_, format, bytes) => {
    const { passed, position } = feed(format, 'nothing', bytes);
    expect(passed.equals(bytes)).toBe(true);
    expect(position).toEqual({ kind: 'inside' });
  });

  it.each([
    ['is not in an envelope', Buffer.from('{}')],
    ['is in an envelope that is cut off', Buffer.from('6b38730012ff', 'hex')],
    ['is compressed in its envelope', Buffer.from('6b38730012001a0167', 'hex')],
    ['has metadata with a wrong wire type', Buffer.from('6b38730012020801', 'hex')],
    ['has a resourceVersion with a wrong wire type', Buffer.from('6b38730012040a023001', 'hex')],
    ['has another text in the place of the resourceVersion', Buffer.from('6b38730012070a0532036e6f31', 'hex')],
  ])('has the position unsafe after a protobuf event whose object %s', (_, object) => {
    const frame = protobufFrame('ADDED', object);
    const { passed, position } = feed(PROTOBUF_EVENTS, 'nothing', frame);
    expect(passed.equals(frame)).toBe(true);
    expect(position).toEqual({ kind: 'unsafe' });
  });
});

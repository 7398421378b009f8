import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { block, type Frame, frameBytes, GET, LIMITS, POST, settingsPayload, uint32 } from './frame-client.fixture.js';
import { FrameReader } from './frame-reader.js';
import { CONNECTION_UNSENT_BYTES_MAX, CONTROL_UNSENT_BYTES_MAX } from './http2-limits.js';
import { DEFAULT_WINDOW_BYTES, Flag, FrameType, PREFACE, readUint31 } from './protocol.js';
import { ServerConnection } from './server-connection.js';
import type { ServerStream } from './server-stream.js';

/** Socket in memory: the test pushes the received bytes and decides when a write completes. */
class TestSocket extends Duplex {
  readonly written: Buffer[] = [];
  blocked = false;
  #waiting: (() => void) | undefined;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: unknown, done: () => void): void {
    this.written.push(Buffer.from(chunk));
    if (this.blocked) this.#waiting = done;
    else done();
  }

  unblock(): void {
    this.blocked = false;
    const done = this.#waiting;
    this.#waiting = undefined;
    done?.();
  }
}

type Step =
  | { readonly do: 'frame'; readonly frame: Frame; readonly cut: number }
  /** Valid request on the next stream. */
  | { readonly do: 'open'; readonly fields: readonly string[]; readonly endStream: boolean }
  | { readonly do: 'bytes'; readonly bytes: Buffer }
  | { readonly do: 'answer'; readonly which: number; readonly how: number; readonly bytes: number }
  | { readonly do: 'block' | 'unblock' | 'drain' | 'settle' }
  | { readonly do: 'wait'; readonly ms: number };

const streamId = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 3, 5, 7, 9, 11, 13) },
  { weight: 1, arbitrary: fc.constantFrom(0, 2) },
);
const shortBytes = fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes));
const request = fc
  .tuple(
    fc.constantFrom(GET, POST),
    fc.constantFrom([], ['content-length', '5'], ['x-a', 'b'], ['Bad', 'x'], [':path', '/']),
  )
  .map(([line, more]) => block(...line, ...more));
const windowUpdate = fc.record({
  type: fc.constant(FrameType.windowUpdate),
  streamId: fc.oneof(streamId, fc.constant(0)),
  payload: fc.integer({ min: 1, max: 100_000 }).map((bytes) => uint32(bytes)),
});
const settings = fc.record({
  type: fc.constant(FrameType.settings),
  payload: fc
    .tuple(fc.constantFrom(1, 3, 4, 4, 6, 99), fc.oneof(fc.nat(70_000), fc.constant(0)))
    .map((pair) => settingsPayload(pair)),
});
const data = fc.record({
  type: fc.constant(FrameType.data),
  flags: fc.constantFrom(0, 1),
  streamId: fc.constantFrom(1, 3, 5, 7),
  payload: fc.oneof(shortBytes, fc.constant(Buffer.alloc(5)), fc.constant(Buffer.alloc(16_384))),
});
const rstStream = fc.record({
  type: fc.constant(FrameType.rstStream),
  streamId: fc.constantFrom(1, 3, 5, 7),
  payload: fc.constant(uint32(8)),
});
const ping = fc.record({
  type: fc.constant(FrameType.ping),
  flags: fc.constantFrom(0, 1),
  payload: fc.constantFrom(Buffer.from('draining'), Buffer.alloc(8)),
});
const politeFrame: fc.Arbitrary<Frame> = fc.oneof(data, data, windowUpdate, settings, rstStream, ping);
const hostileFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ type: fc.nat(12), flags: fc.nat(255), streamId, payload: shortBytes }),
  fc.record({ type: fc.constantFrom(0, 1, 9), flags: fc.constantFrom(0, 1, 4, 5, 13), streamId, payload: request }),
  fc.record({
    type: fc.constant(FrameType.windowUpdate),
    streamId,
    payload: fc.constantFrom(uint32(0), uint32(2 ** 31 - 1)),
  }),
);
const open: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('open' as const),
  fields: fc.constantFrom(GET, POST, [...POST, 'content-length', '5']),
  endStream: fc.boolean(),
});
const answer: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('answer' as const),
  which: fc.nat(10),
  how: fc.nat(7),
  bytes: fc.constantFrom(0, 1, 100, 20_000, 200_000),
});
const sendFrame = (frame: fc.Arbitrary<Frame>) =>
  fc.record({ do: fc.constant('frame' as const), frame, cut: fc.nat(20) });
const polite: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 16, arbitrary: open },
  { weight: 20, arbitrary: sendFrame(politeFrame) },
  { weight: 16, arbitrary: answer },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('block' as const, 'unblock' as const, 'settle' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(100, 5_100, 70_000) }) },
];
const hostile: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 4, arbitrary: sendFrame(hostileFrame) },
  { weight: 1, arbitrary: fc.constant({ do: 'drain' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('bytes' as const), bytes: shortBytes }) },
];

function act(stream: ServerStream, how: number, bytes: number): void {
  const body = Buffer.alloc(bytes, 'x');
  if (how === 0) stream.respond(200, ['x', 'y'], body);
  else if (how === 1) stream.head(200, []);
  else if (how === 2) stream.write(body);
  else if (how === 3) stream.end(bytes % 3 === 1 ? ['x-sum', '1'] : []);
  else if (how === 4) stream.reset();
  else if (how === 5) stream.body?.resume();
  else if (how === 6) stream.body?.destroy();
  else stream.respond(204, [], null);
}

/**
 * Invariants for every client: well-formed frames, flow-control windows respected, no frame after
 * the end of a stream.
 */
function checkWritten(written: readonly Buffer[], sent: readonly Frame[]): void {
  let granted = DEFAULT_WINDOW_BYTES;
  for (const { type, streamId: id = 0, payload } of sent) {
    if (type === FrameType.windowUpdate && id === 0 && payload!.length === 4) granted += readUint31(payload!, 0);
  }
  const ended = new Set<number>();
  const headed = new Set<number>();
  let data = 0;
  const reader = new FrameReader({
    frame(type, flags, id, bytes, start, end) {
      if (type === FrameType.data) {
        data += end - start;
        expect(headed.has(id) && !ended.has(id), `DATA of stream ${id}`).toBe(true);
      } else if (type === FrameType.headers) {
        expect(ended.has(id), `HEADERS of stream ${id}`).toBe(false);
        headed.add(id);
      } else if (type === FrameType.rstStream) ended.add(id);
      else if (type === FrameType.windowUpdate) expect(readUint31(bytes, start)).toBeGreaterThan(0);
      if ((type === FrameType.data || type === FrameType.headers) && (flags & Flag.endStream) !== 0) ended.add(id);
    },
  });
  for (const bytes of written) reader.push(bytes);
  expect(data).toBeLessThanOrEqual(granted);
}

async function grantWindows(socket: TestSocket, streams: readonly ServerStream[], sent: Frame[]): Promise<void> {
  const ids = [0, ...streams.filter((stream) => stream.open).map(({ id }) => id)];
  const frames = ids.map((id) => ({ type: FrameType.windowUpdate, streamId: id, payload: uint32(2 ** 30) }));
  sent.push(...frames);
  if (!socket.destroyed) socket.push(Buffer.concat(frames.map(frameBytes)));
  await settle(10);
}

async function run(steps: readonly Step[]): Promise<void> {
  const socket = new TestSocket();
  const clock = new ManualClock();
  const streams: ServerStream[] = [];
  const closed = new Map<ServerStream, number>();
  let closings = 0;
  const connection = new ServerConnection({
    socket,
    clock,
    limits: { ...LIMITS, streamsMax: 4 },
    events: {
      request: (stream) => {
        streams.push(stream);
        stream.receiver = {
          drained: () => {
            if (stream.open) stream.write(Buffer.alloc(1_000));
          },
          closed: () => void closed.set(stream, (closed.get(stream) ?? 0) + 1),
        };
      },
      closed: () => void closings++,
      failed: () => {},
    },
  });
  const sent: Frame[] = [];
  let nextId = 1;
  socket.push(Buffer.concat([PREFACE, frameBytes({ type: FrameType.settings })]));
  await settle(1);
  for (const each of steps) {
    if (socket.destroyed) break;
    if (each.do === 'frame') {
      // Frames refer to recently opened streams.
      const id = each.frame.streamId ?? 0;
      if (id % 2 === 1 && nextId === 1) continue;
      const frame = id % 2 === 1 ? { ...each.frame, streamId: Math.max(1, nextId - id - 1) } : each.frame;
      const bytes = frameBytes(frame);
      sent.push(frame);
      socket.push(bytes.subarray(0, each.cut));
      socket.push(bytes.subarray(each.cut));
    } else if (each.do === 'open') {
      const flags = Flag.endHeaders | (each.endStream ? Flag.endStream : 0);
      socket.push(frameBytes({ type: FrameType.headers, flags, streamId: nextId, payload: block(...each.fields) }));
      nextId += 2;
    } else if (each.do === 'bytes') socket.push(each.bytes);
    else if (each.do === 'answer') {
      const stream = streams[each.which % Math.max(1, streams.length)];
      if (stream) act(stream, each.how, each.bytes);
    } else if (each.do === 'block') socket.blocked = true;
    else if (each.do === 'unblock') socket.unblock();
    else if (each.do === 'drain') connection.drain();
    else if (each.do === 'wait') await clock.advance(each.ms);
    else await settle(1);
    expect(socket.writableLength).toBeLessThan(CONNECTION_UNSENT_BYTES_MAX + CONTROL_UNSENT_BYTES_MAX + 40_000);
    expect(connection.streamCount).toBeLessThanOrEqual(4);
  }
  await settle(3);
  socket.unblock();
  await settle(3);
  await grantWindows(socket, streams, sent);
  // Every complete response must have been sent by now.
  for (const stream of streams) expect(stream.open && stream.ended).toBe(false);
  checkWritten(socket.written, sent);
  for (const stream of streams) expect(closed.get(stream) ?? 0).toBe(stream.open ? 0 : 1);
  connection.destroy();
  await settle(3);
  expect(closings).toBe(1);
  for (const stream of streams) expect(closed.get(stream)).toBe(1);
  expect(connection.streamCount).toBe(0);
  expect(clock.pending).toBe(0);
}

const steps = (...kinds: readonly fc.WeightedArbitrary<Step>[]) =>
  fc.array(fc.oneof(...kinds), { minLength: 10, maxLength: 80, size: 'max' });

it.each([
  ['well-behaved', steps(...polite)],
  ['hostile', steps(...polite, ...hostile)],
])(
  'ServerConnection keeps its invariants with a %s client and random handlers, and closes every stream once',
  async (_, all) => {
    await fc.assert(fc.asyncProperty(all, run), { numRuns: 200 });
  },
);

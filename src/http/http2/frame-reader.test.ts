import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Frame, frameBytes } from './frame-client.fixture.js';
import { FrameReader } from './frame-reader.js';

function readAll(pieces: readonly Buffer[]): Required<Frame>[] {
  const frames: Required<Frame>[] = [];
  const reader = new FrameReader({
    frame: (type, flags, streamId, bytes, start, end) => {
      frames.push({ type, flags, streamId, payload: Buffer.from(bytes.subarray(start, end)) });
    },
  });
  for (const piece of pieces) reader.push(piece);
  return frames;
}

const frames = fc.array(
  fc.record({
    type: fc.nat(255),
    flags: fc.nat(255),
    streamId: fc.nat(2 ** 31 - 1),
    payload: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  }),
);

describe('FrameReader', () => {
  it('returns the same frames however the reads split them', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(frameBytes));
        const pieces: Buffer[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const length = cuts[i % cuts.length]!;
          pieces.push(bytes.subarray(at, at + length));
          at += length;
        }
        expect(readAll(pieces)).toEqual(sent);
        expect(readAll([bytes])).toEqual(sent);
      }),
    );
  });

  it('throws for a frame above 16384 bytes as soon as its header is read, whole or split', () => {
    const header = frameBytes({ type: 0, payload: Buffer.alloc(16_385) }).subarray(0, 9);
    expect(() => readAll([header])).toThrow(/too large/);
    expect(() => readAll([header.subarray(0, 4), header.subarray(4)])).toThrow(/too large/);
    expect(readAll([frameBytes({ type: 0, payload: Buffer.alloc(16_384) })])).toHaveLength(1);
  });
});

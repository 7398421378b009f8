import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWatch, encodeRange, encodeTxn, encodeWatchProgress } from './etcd-messages.js';
import { FrameParser, frame } from './grpc-frames.js';

describe('messages of etcd', () => {
  it('omit fields with the zero value, and keep empty messages', () => {
    const key = Buffer.from('k');
    expect(encodeRange({ key, limit: 0, keysOnly: false }).toString('hex')).toBe('0a016b');
    expect(encodeWatchProgress().toString('hex')).toBe('1a00');
  });

  it('fail to decode if truncated or random, without reading past the end (property)', () => {
    const whole = encodeTxn({
      success: [{ type: 'put', key: Buffer.from('k'), value: Buffer.alloc(300), lease: 5n }],
      failure: [],
    });
    for (let length = 1; length < whole.length; length++) {
      expect(() => decodeWatch(Buffer.from(whole.subarray(0, length)))).toThrow();
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        try {
          decodeWatch(Buffer.from(noise));
        } catch (error) {
          expect((error as Error).name).toBe('ProtobufError');
        }
      }),
    );
  });
});

describe('the message frames of gRPC', () => {
  it('are complete however the stream is split (property)', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.array(fc.nat({ max: 20 })), (messages, cuts) => {
        const stream = Buffer.concat(messages.map(frame));
        const parser = new FrameParser(100);
        const read: Buffer[] = [];
        let position = 0;
        for (const cut of [...cuts, stream.length]) {
          read.push(...parser.push(stream.subarray(position, position + cut)));
          position = Math.min(stream.length, position + cut);
        }
        read.push(...parser.push(stream.subarray(position)));
        expect(read).toEqual(messages.map((message) => Buffer.from(message)));
      }),
    );
  });

  it('are refused if too large, by their length, or compressed', () => {
    expect(() => new FrameParser(10).push(frame(Buffer.alloc(11)).subarray(0, 5))).toThrow(/larger than max 10/);
    expect(() => new FrameParser(10).push(Buffer.from([1, 0, 0, 0, 0]))).toThrow(/compressed/);
  });
});

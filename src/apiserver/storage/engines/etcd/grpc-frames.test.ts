import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufReader, ProtobufWriter } from '../../../../storage/engines/etcd/protobuf.js';
import { decodeWatch, encodeTxn } from './etcd-messages.js';
import { FrameParser, frame } from './grpc-frames.js';

describe('the protobuf codec', () => {
  it('reads back every number, text and byte string that it writes (property)', () => {
    const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(
        number,
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.string(),
        fc.uint8Array(),
        (n, b, text, raw) => {
          const inner = new ProtobufWriter().text(1, text);
          const bytes = new ProtobufWriter().number(1, n).number(2, b).message(3, inner).bytes(64, raw).finish();
          const read = { n: 0, b: 0n, text: '', raw: Buffer.alloc(0) as Buffer };
          const reader = new ProtobufReader(bytes);
          while (reader.next()) {
            if (reader.field === 1) read.n = reader.number();
            else if (reader.field === 2) read.b = reader.bigint();
            else if (reader.field === 64) read.raw = reader.bytes();
            else
              reader.message((part) => {
                while (part.next()) read.text = part.text();
              });
          }
          expect(read).toEqual({ n, b, text, raw: Buffer.from(raw) });
        },
      ),
    );
  });

  it('reads negative numbers, which take ten bytes', () => {
    const reader = new ProtobufReader(new ProtobufWriter().number(2, -1n).finish());
    expect(reader.next()).toBe(true);
    expect(reader.number()).toBe(-1);
  });

  it('passes over fields of every form that it does not know', () => {
    const known = new ProtobufWriter().number(1, 7).finish();
    const unknown = Buffer.from([0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7d, 1, 2, 3, 4, 0x7a, 2, 9, 9, 0x78, 0x96, 1]);
    const reader = new ProtobufReader(Buffer.concat([unknown, known]));
    const fields: number[] = [];
    while (reader.next()) fields.push(reader.field);
    expect(fields).toEqual([15, 15, 15, 15, 1]);
  });

  it('fails on every message cut short, and on noise, without reading past it (property)', () => {
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
          expect((error as Error).name).toBe('Error');
        }
      }),
    );
  });
});

describe('the message frames of gRPC', () => {
  it('come back whole however the stream is cut (property)', () => {
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

  it('are refused by their length alone when too large, and when compressed', () => {
    expect(() => new FrameParser(10).push(frame(Buffer.alloc(11)).subarray(0, 5))).toThrow(/larger than max 10/);
    expect(() => new FrameParser(10).push(Buffer.from([1, 0, 0, 0, 0]))).toThrow(/compressed/);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufError, WireReader, WireWriter } from './protobuf-wire.js';

describe('the wire format of protobuf', () => {
  it('reads back every number, text and byte string that it writes (property)', () => {
    const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(
        number,
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.string(),
        fc.uint8Array(),
        (n, b, text, raw) => {
          const bytes = new WireWriter()
            .number(1, n)
            .number(2, b)
            .message(3, (inner) => inner.text(1, text))
            .bytes(64, raw)
            .finish();
          const read = { n: 0, b: 0n, text: '', raw: Buffer.alloc(0) as Buffer };
          const reader = new WireReader(bytes);
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
    const reader = new WireReader(new WireWriter().number(2, -1n).finish());
    expect(reader.next()).toBe(true);
    expect(reader.number()).toBe(-1);
  });

  it('reads numbers of 32 bits from varints of any length', () => {
    for (const [written, read] of [
      [2n ** 31n - 1n, 2 ** 31 - 1],
      [-(2n ** 31n), -(2 ** 31)],
      [2n ** 32n + 5n, 5],
      [2n ** 60n + 7n, 7],
    ] as const) {
      const reader = new WireReader(new WireWriter().number(1, written).finish());
      reader.next();
      expect(reader.int32()).toBe(read);
    }
  });

  it('writes messages of every length in place (property)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 1, 127, 128, 300, 16_383, 16_384, 70_000),
        fc.nat({ max: 300 }),
        (length, size) => {
          const value = Buffer.alloc(length, 7);
          const bytes = new WireWriter(size)
            .message(1, (outer) => outer.message(2, (inner) => inner.bytes(3, value)).number(4, 1))
            .finish();
          const inner = new WireWriter().bytes(3, value).finish();
          const outer = new WireWriter().bytes(2, inner).number(4, 1).finish();
          expect(bytes.equals(new WireWriter().bytes(1, outer).finish())).toBe(true);
        },
      ),
    );
  });

  it('returns each field as it is on the wire, groups included', () => {
    const fields = ['0801', '120161', '1b08011c', '250000000f'];
    const reader = new WireReader(Buffer.from(fields.join(''), 'hex'));
    const raw: string[] = [];
    while (reader.next()) raw.push(reader.raw().toString('hex'));
    expect(raw).toEqual(fields);
  });

  it('refuses truncated and malformed bytes with the words of Go', () => {
    const readAll = (hex: string) => () => {
      const reader = new WireReader(Buffer.from(hex, 'hex'));
      while (reader.next());
    };
    expect(readAll('0a05')).toThrow(new ProtobufError('unexpected EOF'));
    expect(readAll('08')).toThrow(new ProtobufError('unexpected EOF'));
    expect(readAll('0001')).toThrow(new ProtobufError('illegal tag'));
    expect(readAll('0c')).toThrow(new ProtobufError('unexpected end of group'));
    expect(readAll('0f')).toThrow(new ProtobufError('illegal wireType 7'));
    expect(readAll('0affffffffffffffffff01')).toThrow(/invalid length/);
    expect(readAll(`08${'ff'.repeat(10)}01`)).toThrow(new ProtobufError('integer overflow'));
  });

  it('skips unknown fields of every wire type', () => {
    const known = new WireWriter().number(1, 7).finish();
    const unknown = Buffer.from([0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7d, 1, 2, 3, 4, 0x7a, 2, 9, 9, 0x78, 0x96, 1]);
    const reader = new WireReader(Buffer.concat([unknown, known]));
    const fields: number[] = [];
    while (reader.next()) fields.push(reader.field);
    expect(fields).toEqual([15, 15, 15, 15, 1]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeaderDecoder, HpackError } from './header-decoder.js';
import { type FieldChoice, integer, TableEncoder, text } from './hpack-encoder.fixture.js';

const LIMITS = { tableBytesMax: 4096, listBytesMax: 16_384, fieldsMax: 100 };

/**
 * Checks that any input gives a result within the limits (returns true) or HpackError (returns
 * false).
 */
function decodeHostile(decoder: HeaderDecoder, block: Buffer): boolean {
  try {
    const { fields, listBytes, tooLarge } = decoder.decode(block);
    const keptBytes = fields.reduce((sum, part) => sum + part.length, fields.length * 16);
    expect(keptBytes).toBeLessThanOrEqual(LIMITS.listBytesMax);
    expect(fields.length).toBeLessThanOrEqual(LIMITS.fieldsMax * 2);
    if (!tooLarge) expect(keptBytes).toBe(listBytes);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(HpackError);
    return false;
  }
}

const octets = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const latin1 = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const field: fc.Arbitrary<FieldChoice> = fc.record({
  // A few frequent names and values give many matches in the tables; the others are random.
  name: fc.oneof(fc.constantFrom('accept', ':path', 'x-a', 'x-b', 'user-agent', 'www-authenticate'), latin1),
  value: fc.oneof(fc.constantFrom('', '/', 'one', 'two', 'x'.repeat(900)), latin1),
  as: fc.constantFrom('indexed' as const, 'kept' as const, 'plain' as const, 'never' as const),
  huffman: fc.boolean(),
});
const resize = fc.array(fc.integer({ min: 0, max: LIMITS.tableBytesMax }), { maxLength: 2 });
const blocks = fc.array(fc.tuple(resize, fc.array(field, { maxLength: 20 })), { minLength: 1, maxLength: 12 });

describe('HeaderDecoder with random input', () => {
  it('decodes consecutive blocks of an encoder with a dynamic table', () => {
    fc.assert(
      fc.property(blocks, (list) => {
        const encoder = new TableEncoder();
        const decoder = new HeaderDecoder({ tableBytesMax: 4096, listBytesMax: 1e9, fieldsMax: 1e9 });
        for (const [sizes, fields] of list) {
          const block = Buffer.concat([...sizes.map((size) => encoder.resize(size)), encoder.encode(fields)]);
          const meant = fields.flatMap(({ name, value }) => [name, value]);
          expect(decoder.decode(block).fields).toEqual(meant);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps its dynamic table in step with the encoder when blocks exceed the limits', () => {
    fc.assert(
      fc.property(blocks, (list) => {
        const encoder = new TableEncoder();
        const decoder = new HeaderDecoder({ tableBytesMax: 4096, listBytesMax: 40, fieldsMax: 1 });
        for (const [sizes, fields] of list) {
          const block = Buffer.concat([...sizes.map((size) => encoder.resize(size)), encoder.encode(fields)]);
          expect(decoder.decode(block).fields.length).toBeLessThanOrEqual(2);
        }
        for (const [i, entry] of encoder.entries.entries()) {
          const { fields, listBytes } = decoder.decode(integer(0x80, 7, 62 + i));
          expect(listBytes).toBe(entry.name.length + entry.value.length + 32);
          if (fields.length > 0) expect(fields).toEqual([entry.name, entry.value]);
        }
        expect(() => decoder.decode(integer(0x80, 7, 62 + encoder.entries.length))).toThrow(HpackError);
      }),
      { numRuns: 100 },
    );
  });

  it('throws HpackError or stays within the limits for random octets', () => {
    fc.assert(
      fc.property(fc.array(octets, { maxLength: 8 }), (list) => {
        const decoder = new HeaderDecoder(LIMITS);
        list.every((block) => decodeHostile(decoder, block));
      }),
      { numRuns: 2000 },
    );
  });

  it('throws HpackError or stays within the limits for damaged blocks', () => {
    const damage = fc.record({ at: fc.nat(), octet: fc.nat(255), cut: fc.boolean() });
    fc.assert(
      fc.property(fc.array(field, { maxLength: 20 }), fc.array(damage, { maxLength: 3 }), (fields, damages) => {
        let block = new TableEncoder().encode(fields);
        for (const { at, octet, cut } of damages) {
          if (block.length === 0) break;
          block[at % block.length] = octet;
          if (cut) block = block.subarray(0, at % block.length);
        }
        decodeHostile(new HeaderDecoder(LIMITS), block);
      }),
      { numRuns: 1000 },
    );
  });

  it('throws HpackError for a block truncated at any octet of a field', () => {
    const block = Buffer.concat([integer(0x40, 6, 0), text('x-name'), text('a value for it', true)]);
    for (let length = 1; length < block.length; length++) {
      expect(() => new HeaderDecoder(LIMITS).decode(block.subarray(0, length)), `${length}`).toThrow(HpackError);
    }
    expect(new HeaderDecoder(LIMITS).decode(block).fields).toEqual(['x-name', 'a value for it']);
  });
});

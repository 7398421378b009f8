import { describe, expect, it } from 'vitest';
import { HeaderDecoder, HpackError } from './header-decoder.js';
import { bitsToBytes, HUFFMAN_CODES, huffmanCoded, integer, TableEncoder, text } from './hpack-encoder.fixture.js';
import { MALFORMED_BLOCKS } from './malformed-blocks.fixture.js';

const LIMITS = { tableBytesMax: 4096, listBytesMax: 65_536, fieldsMax: 256 };

function decoder(limits: Partial<typeof LIMITS> = {}): HeaderDecoder {
  return new HeaderDecoder({ ...LIMITS, ...limits });
}

function hex(octets: string): Buffer {
  return Buffer.from(octets.replaceAll(/\s/g, ''), 'hex');
}

function pairs(lines: string): string[] {
  return lines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^\s*(.[^:]*): (.*)$/.exec(line)!;
      return [name!, value!];
    });
}

describe('HeaderDecoder on the examples of RFC 7541, appendix C', () => {
  it.each([
    ['C.2.1', '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', 'custom-key: custom-header'],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', ':path: /sample/path'],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', 'password: secret'],
    ['C.2.4', '82', ':method: GET'],
  ])('decodes example %s', (_name, octets, lines) => {
    expect(decoder().decode(hex(octets)).fields).toEqual(pairs(lines));
  });

  const requests = [
    `:method: GET
     :scheme: http
     :path: /
     :authority: www.example.com`,
    `:method: GET
     :scheme: http
     :path: /
     :authority: www.example.com
     cache-control: no-cache`,
    `:method: GET
     :scheme: https
     :path: /index.html
     :authority: www.example.com
     custom-key: custom-value`,
  ];
  it.each([
    [
      'C.3',
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ],
    [
      'C.4',
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ],
  ])('decodes the requests of %s', (_name, ...blocks) => {
    const decoding = decoder();
    expect(blocks.map((block) => decoding.decode(hex(block)).fields)).toEqual(requests.map(pairs));
  });

  const responses = [
    `:status: 302
     cache-control: private
     date: Mon, 21 Oct 2013 20:13:21 GMT
     location: https://www.example.com`,
    `:status: 307
     cache-control: private
     date: Mon, 21 Oct 2013 20:13:21 GMT
     location: https://www.example.com`,
    `:status: 200
     cache-control: private
     date: Mon, 21 Oct 2013 20:13:22 GMT
     location: https://www.example.com
     content-encoding: gzip
     set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1`,
  ];
  it.each([
    [
      'C.5',
      `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e
       1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
      '4803 3330 37c1 c0bf',
      `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d
       4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572
       7369 6f6e 3d31`,
    ],
    [
      'C.6',
      `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b
       97c8 e9ae 82ae 43d3`,
      '4883 640e ffc1 c0bf',
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf
       cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
    ],
  ])('decodes the responses of %s with eviction from a table of 256 bytes', (_name, ...blocks) => {
    const decoding = decoder();
    decoding.decode(integer(0x20, 5, 256));
    expect(blocks.map((block) => decoding.decode(hex(block)).fields)).toEqual(responses.map(pairs));
  });
});

describe('HeaderDecoder on malformed blocks', () => {
  it.each(MALFORMED_BLOCKS)('throws HpackError for %s', (_name, octets) => {
    expect(() => decoder().decode(hex(octets))).toThrow(HpackError);
  });

  it('accepts blocks just within those bounds', () => {
    expect(decoder().decode(hex('3fe11f 20 3fe11f 20 82')).fields).toEqual([':method', 'GET']);
    expect(decoder().decode(hex('44 81 1f')).fields).toEqual([':path', 'a']);
    expect(decoder().decode(hex('44 80')).fields).toEqual([':path', '']);
    expect(decoder().decode(hex('00 00 00')).fields).toEqual(['', '']);
    expect(decoder().decode(hex('1f ae 80 00 00')).fields).toEqual(['www-authenticate', '']);
    expect(decoder().decode(hex('')).fields).toEqual([]);
  });
});

describe('HeaderDecoder on Huffman-coded strings', () => {
  it('decodes every octet, alone and next to codes of every length', () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet)).toString('latin1');
    const values = [all, ...Array.from(all), ...Array.from(all, (char) => `0${char}w${char}~`)];
    const block = new TableEncoder().encode(
      values.map((value) => ({ name: 'x', value, as: 'plain' as const, huffman: true })),
    );
    const { fields } = decoder({ fieldsMax: 1000, listBytesMax: 1e6 }).decode(block);
    expect(fields.filter((_, i) => i % 2 === 1)).toEqual(values);
  });

  it('throws HpackError for EOS at any position', () => {
    for (let before = 0; before < 8; before++) {
      const bits = `${'00000'.repeat(before)}${HUFFMAN_CODES[256]!}`;
      const coded = bitsToBytes(bits.padEnd(Math.ceil(bits.length / 8) * 8, '1'));
      const block = Buffer.concat([hex('44'), integer(0x80, 7, coded.length), coded]);
      expect(() => decoder().decode(block), bits).toThrow(HpackError);
    }
  });

  it('throws HpackError for a string that ends within a symbol', () => {
    // The code of `{` starts with fourteen ones; eleven remain here, more than the seven allowed as
    // padding.
    const coded = huffmanCoded('a{').subarray(0, 2);
    expect(() => decoder().decode(Buffer.concat([hex('4482'), coded]))).toThrow(HpackError);
  });

  it('decodes strings longer than its shared buffer', () => {
    const value = 'e'.repeat(40_000);
    const block = Buffer.concat([hex('44'), text(value, true)]);
    expect(decoder().decode(block).fields[1]).toBe(value);
  });
});

describe('HeaderDecoder limits', () => {
  const kept = (name: string, value: string) => ({ name, value, as: 'kept' as const, huffman: false });

  it('counts but drops fields above the list size, and keeps the dynamic table correct', () => {
    const encoder = new TableEncoder();
    const decoding = decoder({ listBytesMax: 100 });
    const first = decoding.decode(
      encoder.encode([kept('a', '1'), kept('b', 'x'.repeat(100)), kept('c', '3'), kept('d', '4')]),
    );
    expect(first).toEqual({ fields: ['a', '1'], listBytes: 34 + 133 + 34 + 34, tooLarge: true });
    const second = decoding.decode(
      encoder.encode([
        { name: 'c', value: '3', as: 'indexed', huffman: false },
        { name: 'd', value: '4', as: 'indexed', huffman: false },
      ]),
    );
    expect(second).toEqual({ fields: ['c', '3', 'd', '4'], listBytes: 68, tooLarge: false });
  });

  it('accepts a header list of exactly the maximum size', () => {
    const block = new TableEncoder().encode([kept('a', '1'), kept('b', '2')]);
    expect(decoder({ listBytesMax: 68 }).decode(block).tooLarge).toBe(false);
    expect(decoder({ listBytesMax: 67 }).decode(block).tooLarge).toBe(true);
  });

  it('drops fields above the maximum number', () => {
    const block = new TableEncoder().encode([kept('a', '1'), kept('b', '2'), kept('c', '3')]);
    expect(decoder({ fieldsMax: 3 }).decode(block)).toMatchObject({ tooLarge: false });
    expect(decoder({ fieldsMax: 2 }).decode(block)).toEqual({
      fields: ['a', '1', 'b', '2'],
      listBytes: 102,
      tooLarge: true,
    });
  });

  it('does not expand a header bomb of a million references to one large entry', () => {
    const decoding = decoder();
    const entry = new TableEncoder().encode([kept('bomb', 'x'.repeat(4000))]);
    const references = 1_000_000;
    const result = decoding.decode(Buffer.concat([entry, Buffer.alloc(references, 0xbe)]));
    expect(result.listBytes).toBe((references + 1) * 4036);
    expect(result.tooLarge).toBe(true);
    expect(result.fields.length / 2).toBe(Math.floor(LIMITS.listBytesMax / 4036));
  });

  it('returns a new array of fields each time', () => {
    const decoding = decoder();
    const { fields } = decoding.decode(hex('82'));
    fields.push('changed', 'by its owner');
    expect(decoding.decode(hex('82')).fields).toEqual([':method', 'GET']);
  });

  it('uses a table of 4096 bytes until a table size update, whatever SETTINGS announced', () => {
    const large = decoder({ tableBytesMax: 65_536 });
    large.decode(new TableEncoder().encode([kept('a', 'x'.repeat(3000)), kept('b', 'x'.repeat(3000))]));
    expect(() => large.decode(hex('bf'))).toThrow(HpackError);
    const grown = decoder({ tableBytesMax: 65_536 });
    const encoder = new TableEncoder();
    grown.decode(encoder.resize(65_536));
    grown.decode(encoder.encode([kept('a', 'x'.repeat(3000)), kept('b', 'x'.repeat(3000))]));
    expect(grown.decode(hex('bf')).fields[0]).toBe('a');
    // A client may have sent this before it read a smaller SETTINGS_HEADER_TABLE_SIZE.
    expect(decoder({ tableBytesMax: 0 }).decode(hex('44 01 61 be')).fields).toEqual([':path', 'a', ':path', 'a']);
  });
});

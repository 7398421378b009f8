import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WriteBuffer } from './write-buffer.js';

it('Outbound keeps the bytes of connections that write in the same turn separate and in order', () => {
  const step = fc.record({
    which: fc.nat(2),
    bytes: fc.constantFrom(0, 1, 9, 300, 5_000, 40_000, 70_000),
    how: fc.constantFrom('append' as const, 'refer' as const, 'take' as const),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const outbounds = [new WriteBuffer(), new WriteBuffer(), new WriteBuffer()];
      const expected: Buffer[][] = [[], [], []];
      const taken: Uint8Array[][] = [[], [], []];
      let fill = 0;
      for (const { which, bytes, how } of steps) {
        const outbound = outbounds[which]!;
        if (how === 'take') {
          const before = outbound.bytes;
          const pieces = outbound.take();
          expect(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(before);
          taken[which]!.push(...pieces);
          continue;
        }
        const written = Buffer.alloc(bytes, ++fill % 251);
        expected[which]!.push(written);
        outbound[how](written);
      }
      outbounds.forEach((outbound, i) => {
        taken[i]!.push(...outbound.take());
        expect(Buffer.concat(taken[i]!).equals(Buffer.concat(expected[i]!))).toBe(true);
        expect(outbound.bytes).toBe(0);
      });
    }),
  );
});

it('WriteBuffer joins small frames into one piece', () => {
  const outbound = new WriteBuffer();
  for (let i = 0; i < 100; i++) outbound.windowUpdate(1, 1);
  expect(outbound.take()).toHaveLength(1);
});

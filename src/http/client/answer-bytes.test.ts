import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerBytes } from './answer-bytes.js';

describe('AnswerBytes', () => {
  it('returns the bytes added, although other replies add in between and the source is overwritten', () => {
    const step = fc.record({ who: fc.nat(2), length: fc.integer({ min: 1, max: 12_000 }), take: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const memory = Buffer.alloc(16_384);
        const answers = [0, 1, 2].map(() => ({
          bytes: new AnswerBytes(),
          taken: [] as Buffer[],
          wanted: [] as Buffer[],
        }));
        steps.forEach(({ who, length, take }, i) => {
          const answer = answers[who]!;
          memory.fill(i + 1);
          answer.bytes.add(memory, 3, 3 + length);
          answer.wanted.push(Buffer.alloc(length, i + 1));
          if (take) answer.taken.push(...answer.bytes.take());
        });
        memory.fill(0);
        for (const { bytes, taken, wanted } of answers) {
          expect(Buffer.concat([...taken, ...bytes.take()]).equals(Buffer.concat(wanted))).toBe(true);
          expect(bytes.take()).toEqual([]);
        }
      }),
    );
  });

  it('returns consecutive small pieces as one or two', () => {
    const bytes = new AnswerBytes();
    for (const part of ['one ', 'answer ', 'in three']) bytes.add(Buffer.from(part), 0, part.length);
    const pieces = bytes.take();
    expect(pieces.length).toBeLessThanOrEqual(2);
    expect(Buffer.concat(pieces).toString()).toBe('one answer in three');
  });
});

import { HpackError } from '../../../http2/hpack/hpack-error.js';

/**
 * RFC 7541, appendix B, as the length in bits of each symbol's code, octets 0 to 255 and then EOS. The code is canonical:
 * codes of a length are consecutive numbers in the order of their symbols, so lengths are all there is to know.
 */
export const HUFFMAN_CODE_BITS: readonly number[] = `
13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28
6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10
13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6
15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28
20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24
22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23
26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27
20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26
30`
  .trim()
  .split(/\s+/)
  .map(Number);

const EOS = 256;
/** A complete tree of 257 leaves has 256 inner nodes; these are the states, and 0 is the root. */
const STATES = 256;

/**
 * What an octet does to a state: bits 0–7 the next state, 8–15 and 16–23 the octets put out, 24–25 how many (codes have
 * five bits at least, so one begun earlier and one more can end within eight), and bit 26 that EOS was met.
 */
const STEPS = new Int32Array(STATES * 256);
const EMITTED_ONE = 1 << 24;
const MET_EOS = 1 << 26;

/** 1 where a string may end: between symbols, or after at most seven bits of EOS, whose bits are all ones (5.2). */
const MAY_END = new Uint8Array(STATES);

buildSteps(buildTree());

/** Children of each inner node, two by two: another inner node, or the complement (`~`) of a symbol. */
function buildTree(): Int16Array {
  const children = new Int16Array(STATES * 2);
  let states = 1;
  let code = 0;
  let codeBits = 0;
  const symbols = [...HUFFMAN_CODE_BITS.keys()].sort((a, b) => HUFFMAN_CODE_BITS[a]! - HUFFMAN_CODE_BITS[b]! || a - b);
  for (const symbol of symbols) {
    code <<= HUFFMAN_CODE_BITS[symbol]! - codeBits;
    codeBits = HUFFMAN_CODE_BITS[symbol]!;
    let state = 0;
    for (let shift = codeBits - 1; shift > 0; shift--) {
      const branch = state * 2 + ((code >> shift) & 1);
      // The root is nobody's child: 0 stands for a branch not grown yet.
      if (children[branch] === 0) children[branch] = states++;
      state = children[branch]!;
    }
    children[state * 2 + (code & 1)] = ~symbol;
    code++;
  }
  return children;
}

function buildSteps(children: Int16Array): void {
  // Half an octet ends one code at most, and its steps are few; whole octets are then put together of two.
  const halves = new Int32Array(STATES * 16);
  for (let i = 0; i < halves.length; i++) halves[i] = halfStep(children, i >> 4, i & 0xf);
  for (let i = 0; i < STEPS.length; i++) {
    const first = halves[i >> 4]!;
    STEPS[i] = joined(first, halves[((first & 0xff) << 4) | (i & 0xf)]!);
  }
  let state = 0;
  for (let ones = 0; ones <= 7; ones++) {
    MAY_END[state] = 1;
    state = children[state * 2 + 1]!;
  }
}

function halfStep(children: Int16Array, from: number, bits: number): number {
  let state = from;
  let emitted = 0;
  for (let shift = 3; shift >= 0; shift--) {
    const child = children[state * 2 + ((bits >> shift) & 1)]!;
    if (child === ~EOS) return MET_EOS;
    if (child < 0) emitted = EMITTED_ONE | (~child << 8);
    state = Math.max(child, 0);
  }
  return emitted | state;
}

function joined(first: number, second: number): number {
  if (first >= MET_EOS || second >= MET_EOS) return MET_EOS;
  if (first < EMITTED_ONE) return second;
  if (second < EMITTED_ONE) return (first & ~0xff) | second;
  return (second & 0xff) | (first & 0xff00) | ((second & 0xff00) << 8) | (EMITTED_ONE * 2);
}

/** No code is shorter than five bits; and one octet more is written than counted. */
export function huffmanRoomBytes(encodedBytes: number): number {
  return Math.floor((encodedBytes * 8) / 5) + 1;
}

/** Decodes `source` from `start` to `end` to the beginning of `into`, which must have room, and returns how many octets it has there. */
export function decodeHuffman(source: Uint8Array, start: number, end: number, into: Uint8Array): number {
  let state = 0;
  let length = 0;
  let seen = 0;
  for (let i = start; i < end; i++) {
    const step = STEPS[(state << 8) | source[i]!]!;
    state = step & 0xff;
    // Written whether meant or not: nobody can foretell how many it will be, and a wrong guess costs more than a write.
    into[length] = step >> 8;
    into[length + 1] = step >> 16;
    length += (step >> 24) & 3;
    seen |= step;
  }
  if (seen >= MET_EOS) throw new HpackError('a string contains the end-of-string symbol');
  if (MAY_END[state] === 0) throw new HpackError('a string ends with wrong padding');
  return length;
}

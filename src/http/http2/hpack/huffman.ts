import { HpackError } from './hpack-error.js';

/**
 * Code lengths in bits of octets 0 to 255, then EOS (RFC 7541, appendix B). The code is canonical:
 * codes of one length are consecutive numbers in symbol order, so the lengths define it.
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
/**
 * Number of decoder states: the 256 inner nodes of the tree with 257 leaves; state 0 is the root.
 */
const STATES = 256;

/**
 * Transition of a state on an input octet. Bits 0–7: next state. Bits 8–15 and 16–23: output
 * octets. Bits 24–25: their number (0 to 2: codes have at least five bits, so at most two end
 * within an octet). Bit 26: EOS was met.
 */
const STEPS = new Int32Array(STATES * 256);
const EMITTED_ONE = 1 << 24;
const MET_EOS = 1 << 26;

/** 1 for states in which a string may end: at most seven one bits of padding (RFC 7541, 5.2). */
const MAY_END = new Uint8Array(STATES);

buildSteps(buildTree());

/** Returns the children of inner nodes: an inner node, or the complement (`~`) of a symbol. */
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
      // The root is never a child, so 0 marks a branch without a node.
      if (children[branch] === 0) children[branch] = states++;
      state = children[branch]!;
    }
    children[state * 2 + (code & 1)] = ~symbol;
    code++;
  }
  return children;
}

function buildSteps(children: Int16Array): void {
  // A nibble ends at most one code and needs a small table; transitions of octets combine two
  // nibbles.
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

/**
 * Returns the buffer size that decoding needs: codes have at least five bits, and one octet more is
 * written than counted.
 */
export function huffmanRoomBytes(encodedBytes: number): number {
  return Math.floor((encodedBytes * 8) / 5) + 1;
}

/**
 * Decodes `source` from `start` to `end` into `into`, which must have `huffmanRoomBytes`, and
 * returns the number of decoded octets.
 */
export function decodeHuffman(source: Uint8Array, start: number, end: number, into: Uint8Array): number {
  let state = 0;
  let length = 0;
  let seen = 0;
  for (let i = start; i < end; i++) {
    const step = STEPS[(state << 8) | source[i]!]!;
    state = step & 0xff;
    // Both octets are written unconditionally: a mispredicted branch costs more than a write.
    into[length] = step >> 8;
    into[length + 1] = step >> 16;
    length += (step >> 24) & 3;
    seen |= step;
  }
  if (seen >= MET_EOS) throw new HpackError('Huffman string contains EOS');
  if (MAY_END[state] === 0) throw new HpackError('Huffman string has invalid padding');
  return length;
}

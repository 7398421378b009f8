/** Size of a slab shared by several replies: a buffer for each would burden the collector. */
const SLAB_BYTES = 64 * 1024;
/** Larger pieces get a buffer of their own, since a long-lived piece keeps its whole slab alive. */
const SHARED_PIECE_BYTES_MAX = 8 * 1024;

let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let used = 0;

/**
 * Copies the pieces of one reply body out of the read buffer, which is about to be overwritten.
 * Consecutive pieces are placed next to each other, so that most bodies are contiguous without a
 * second copy.
 */
export class AnswerBytes {
  #slab: Buffer = slab;
  #start = 0;
  #end = 0;
  #sealed: Buffer[] | undefined;

  add(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length > SHARED_PIECE_BYTES_MAX) {
      this.#seal();
      this.#keep(copyBytes(bytes, start, end));
      return;
    }
    if (length > SLAB_BYTES - used) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      used = 0;
    }
    // Not contiguous with the previous piece: bytes of another reply are in between, or the slab is
    // new.
    if (this.#slab !== slab || this.#end !== used) {
      this.#seal();
      this.#slab = slab;
      this.#start = used;
    }
    bytes.copy(slab, used, start, end);
    used += length;
    this.#end = used;
  }

  /** Returns and removes the pieces added since the last call, in order. */
  take(): readonly Buffer[] {
    this.#seal();
    const taken = this.#sealed ?? [];
    this.#sealed = undefined;
    return taken;
  }

  #seal(): void {
    if (this.#end > this.#start) this.#keep(this.#slab.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }

  #keep(piece: Buffer): void {
    if (this.#sealed) this.#sealed.push(piece);
    else this.#sealed = [piece];
  }
}

/** Returns a copy in a buffer of its own, which keeps no other memory alive. */
export function copyBytes(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

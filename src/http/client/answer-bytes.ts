/** Several answers share one: a buffer for each would be most of what the garbage collector has to look after. */
const SLAB_BYTES = 64 * 1024;
/** Larger pieces have a buffer of their own; one that lives long would keep a whole slab alive. */
const SHARED_PIECE_BYTES_MAX = 8 * 1024;

let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let used = 0;

/**
 * Gathers the pieces of one answer's body out of memory that is about to be read into again. Pieces that come together
 * lie together, so that most bodies are in one piece without being copied a second time.
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
      this.#keep(ownBytes(bytes, start, end));
      return;
    }
    if (length > SLAB_BYTES - used) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      used = 0;
    }
    // Not directly behind what was added before: somebody else's bytes are between, or it is another slab.
    if (this.#slab !== slab || this.#end !== used) {
      this.#seal();
      this.#slab = slab;
      this.#start = used;
    }
    bytes.copy(slab, used, start, end);
    used += length;
    this.#end = used;
  }

  /** What was added since the last time, in order. */
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

/** A copy that keeps nothing else alive, however long it lives. */
export function ownBytes(bytes: Buffer, start: number, end: number): Buffer {
  const own = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(own, 0, start, end);
  return own;
}

import type { LargeHeads as Http2LargeHeads, OpenBlock } from '../http2/http2-limits.js';

export interface LargeHeadsOptions {
  /** Size up to which a head is not counted. */
  readonly usualBytesMax: number;
  /** Bound on the sum of the larger heads of all requests that wait, run or are being answered. */
  readonly bytesMax: number;
  /** Called for each head that finds no room. */
  readonly onRefused: () => void;
}

/** Part of `bytesMax` that incomplete heads, if more than one, may have besides the heads of requests. */
const OPEN_BLOCKS_FRACTION = 1 / 4;

/**
 * Bounds the memory of heads above the usual size, over all connections of a listener: the limits filter sees a head only when it
 * is complete, and does not count one that it refuses. Usual heads cost a comparison.
 */
export class LargeHeads implements Http2LargeHeads {
  readonly #options: LargeHeadsOptions;
  #heldBytes = 0;
  /** Sizes of the incomplete heads above the usual size (header blocks of HTTP/2), the oldest first. */
  readonly #blocks = new Map<OpenBlock, number>();
  #blocksBytes = 0;

  constructor(options: LargeHeadsOptions) {
    this.#options = options;
  }

  get heldBytes(): number {
    return this.#heldBytes + this.#blocksBytes;
  }

  /** Returns whether a head of this size is counted. */
  isLarge(bytes: number): boolean {
    return bytes > this.#options.usualBytesMax;
  }

  take(bytes: number): boolean {
    if (bytes <= this.#options.usualBytesMax) return true;
    if (this.#heldBytes + bytes > this.#options.bytesMax) {
      this.#options.onRefused();
      return false;
    }
    this.#heldBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    if (bytes > this.#options.usualBytesMax) this.#heldBytes -= bytes;
  }

  /**
   * The oldest block gives way, not the one that grows: honest clients complete a block in one go, and a connection that is closed
   * in the middle of one takes its other requests with it.
   */
  blockGrew(block: OpenBlock, bytes: number): boolean {
    const { usualBytesMax, bytesMax } = this.#options;
    if (bytes <= usualBytesMax) return true;
    this.#blocksBytes += bytes - (this.#blocks.get(block) ?? 0);
    this.#blocks.set(block, bytes);
    while (this.#blocks.size > 1 && this.#blocksBytes > bytesMax * OPEN_BLOCKS_FRACTION) {
      const [oldest] = this.#blocks.keys();
      this.blockEnded(oldest!);
      this.#options.onRefused();
      if (oldest === block) return false;
      oldest!.displace();
    }
    return true;
  }

  blockEnded(block: OpenBlock): void {
    const bytes = this.#blocks.get(block);
    if (bytes === undefined) return;
    this.#blocks.delete(block);
    this.#blocksBytes -= bytes;
  }
}

import { Readable } from 'node:stream';

/** One piece at a time lies with the reader: only here are small ones gathered, and held against the client's windows. */
const READ_AHEAD_BYTES = 1;
/** Smaller pieces are gathered into blocks of this size: a byte at a time must not cost an object and a read buffer each. */
const GATHER_BYTES = 4 * 1024;

/**
 * A request's body. Whoever reads it may destroy it when an attempt fails, and its stream and connection survive that:
 * what the client still sends is dropped.
 */
export class IncomingBody extends Readable {
  readonly #consumed: (bytes: number) => void;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Room left at the end of the last waiting block, where that is one of ours. */
  #gathering: Buffer | undefined;
  #gatheredBytes = 0;
  #wanted = false;
  #passing = false;
  #complete = false;
  #ended = false;
  #dropping = false;
  #receivedBytes = 0;

  /** `consumed` hears of every byte once, when it no longer waits here: the client may then send as many more. */
  constructor(consumed: (bytes: number) => void) {
    super({ highWaterMark: READ_AHEAD_BYTES });
    this.#consumed = consumed;
    // A request that was refused has no reader, and one that moves on has none for a while; its client may leave then.
    this.on('error', () => {});
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Somebody reads, and nothing is there. */
  get waitsForClient(): boolean {
    return this.#wanted && !this.#complete && !this.#dropping && this.#waitingBytes === 0;
  }

  add(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length === 0) return;
    this.#receivedBytes += length;
    if (this.#dropping) {
      this.#consumed(length);
      return;
    }
    this.#waitingBytes += length;
    if (length < GATHER_BYTES) {
      this.#gather(bytes, start, end);
      if (this.#wanted) this.#passSoon();
      return;
    }
    this.#sealGathered();
    this.#waiting.push(bytes.subarray(start, end));
    if (this.#wanted) this.#pass();
  }

  /** The client has sent all of it. */
  finish(): void {
    this.#complete = true;
    this.#pass();
  }

  /** There will be no more, and what there is is not the whole. */
  breakOff(): void {
    if (!this.#ended && !this.destroyed) this.destroy(new Error('the client left in the middle of its request'));
  }

  override _read(): void {
    this.#wanted = true;
    this.#pass();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#dropping = true;
    const unread = this.#waitingBytes;
    this.#waiting = [];
    this.#gathering = undefined;
    this.#gatheredBytes = 0;
    this.#waitingBytes = 0;
    if (unread > 0) this.#consumed(unread);
    callback(error);
  }

  /** With all that comes in this turn: whoever sends single bytes would have each of them passed through everything. */
  #passSoon(): void {
    if (this.#passing) return;
    this.#passing = true;
    setImmediate(() => {
      this.#passing = false;
      this.#pass();
    });
  }

  #pass(): void {
    if (this.#wanted) this.#sealGathered();
    // Each block is out of here before the reader sees it, since it may ask for the next in the middle of this.
    while (this.#wanted && this.#waiting.length > 0) {
      const block = this.#waiting.shift()!;
      this.#waitingBytes -= block.length;
      this.#wanted = this.push(block);
      this.#consumed(block.length);
    }
    this.#endWhenPassed();
  }

  #endWhenPassed(): void {
    if (!this.#complete || this.#ended || this.#dropping || this.#waitingBytes > 0) return;
    this.#ended = true;
    this.push(null);
  }

  #gather(bytes: Buffer, start: number, end: number): void {
    let from = start;
    while (from < end) {
      this.#gathering ??= Buffer.allocUnsafe(GATHER_BYTES);
      const copied = bytes.copy(this.#gathering, this.#gatheredBytes, from, end);
      this.#gatheredBytes += copied;
      from += copied;
      if (this.#gatheredBytes === GATHER_BYTES) this.#sealGathered();
    }
  }

  #sealGathered(): void {
    if (this.#gatheredBytes === 0) return;
    const gathered = this.#gathering!.subarray(0, this.#gatheredBytes);
    this.#gatheredBytes = 0;
    if (gathered.length < GATHER_BYTES / 2) {
      // A reader may keep it for long, and the rest of the block with it.
      this.#waiting.push(Buffer.from(gathered));
      return;
    }
    this.#waiting.push(gathered);
    this.#gathering = undefined;
  }
}

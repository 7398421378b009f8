import type { ServerStream } from './server-stream.js';

const SLOTS_MIN = 8;

/**
 * Open streams of a connection by id: open addressing with linear probing. Not a Map, because V8
 * replaces the backing store of a Map every few insertions and deletions, and each old store refers
 * to its successor: once one of them is tenured, it keeps all later ones and their streams alive
 * until a major garbage collection.
 */
export class StreamTable {
  /** Load factor at most 1/2. A stream is in the home slot of its id, or in the next free one. */
  private slots: (ServerStream | undefined)[] = emptySlots(SLOTS_MIN);
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(id: number): ServerStream | undefined {
    const { slots } = this;
    for (let at = this.home(id); ; at = this.after(at)) {
      const stream = slots[at];
      if (stream === undefined || stream.id === id) return stream;
    }
  }

  /** Adds a stream; its id must not be in the table. */
  add(stream: ServerStream): void {
    if (2 * (this.count + 1) > this.slots.length) this.grow();
    this.put(stream);
    this.count++;
  }

  /** Returns false if the stream is not in the table. */
  delete(stream: ServerStream): boolean {
    const { slots } = this;
    let hole = this.home(stream.id);
    while (slots[hole] !== stream) {
      if (slots[hole] === undefined) return false;
      hole = this.after(hole);
    }
    // Backward-shift deletion: following streams move into the hole unless it is before their home
    // slot.
    for (let at = this.after(hole); slots[at] !== undefined; at = this.after(at)) {
      const moving = slots[at]!;
      if (this.distance(this.home(moving.id), at) < this.distance(hole, at)) continue;
      slots[hole] = moving;
      hole = at;
    }
    slots[hole] = undefined;
    this.count--;
    return true;
  }

  all(): ServerStream[] {
    return this.slots.filter((stream) => stream !== undefined);
  }

  /** Ids of client streams are odd: the lowest bit is dropped. */
  private home(id: number): number {
    return (id >>> 1) & (this.slots.length - 1);
  }

  private after(at: number): number {
    return (at + 1) & (this.slots.length - 1);
  }

  private distance(from: number, to: number): number {
    return (to - from) & (this.slots.length - 1);
  }

  private put(stream: ServerStream): void {
    let at = this.home(stream.id);
    while (this.slots[at] !== undefined) at = this.after(at);
    this.slots[at] = stream;
  }

  private grow(): void {
    const streams = this.all();
    this.slots = emptySlots(2 * this.slots.length);
    for (const stream of streams) this.put(stream);
  }
}

function emptySlots(count: number): (ServerStream | undefined)[] {
  return new Array<ServerStream | undefined>(count).fill(undefined);
}

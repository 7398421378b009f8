import type { ServerStream } from './server-stream.js';

const SLOTS_MIN = 8;

/**
 * The open streams of a connection by their number. Unlike a Map, it makes nothing new while streams come and go: a Map
 * takes a new table every few changes, each table refers to its successor, and once one of them is old, the garbage
 * collector keeps all that follow, with the streams in them.
 */
export class StreamTable {
  /** A stream lies in the slot of its number or, where that is taken, in the next free one; half of them stay free. */
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

  /** Of a number that is not in it. */
  add(stream: ServerStream): void {
    if (2 * (this.count + 1) > this.slots.length) this.grow();
    this.put(stream);
    this.count++;
  }

  /** False if it is not in it. */
  delete(stream: ServerStream): boolean {
    const { slots } = this;
    let hole = this.home(stream.id);
    while (slots[hole] !== stream) {
      if (slots[hole] === undefined) return false;
      hole = this.after(hole);
    }
    // Those behind it move up, unless they would come to lie before their own slot.
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

  /** Clients use odd numbers only. */
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

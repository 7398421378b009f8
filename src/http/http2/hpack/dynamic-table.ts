import { STATIC_LAST } from './static-table.js';

/** RFC 7541, 4.1: what an entry counts for besides its name and value. */
export const ENTRY_OVERHEAD_BYTES = 32;

const SLOTS_AT_FIRST = 16;

/**
 * RFC 7541, 2.3.2: the newest entry is 62, older ones follow. Kept as a ring, so that neither adding nor evicting moves
 * anything. As entries count for 32 bytes at least, the bound on bytes is also one on slots.
 */
export class DynamicTable {
  private names: string[] = new Array(SLOTS_AT_FIRST).fill('');
  private values: string[] = new Array(SLOTS_AT_FIRST).fill('');
  private mask = SLOTS_AT_FIRST - 1;
  /** The slot the next entry goes to, counted on without end being wrapped by the mask. */
  private next = 0;
  private count = 0;
  private bytes = 0;

  constructor(private bytesMax: number) {}

  get sizeBytes(): number {
    return this.bytes;
  }

  /** The slot of an index of the wire, or -1 where there is no such entry. Good until the next `add` or `resize`. */
  slotOf(index: number): number {
    const age = index - STATIC_LAST;
    return age > this.count ? -1 : (this.next - age) & this.mask;
  }

  nameAt(slot: number): string {
    return this.names[slot]!;
  }

  valueAt(slot: number): string {
    return this.values[slot]!;
  }

  /** RFC 7541, 4.4: evicts first; an entry larger than the table empties it and is not kept. */
  add(name: string, value: string): void {
    const bytes = name.length + value.length + ENTRY_OVERHEAD_BYTES;
    this.evictTo(this.bytesMax - bytes);
    if (bytes > this.bytesMax) return;
    if (this.count > this.mask) this.grow();
    const slot = this.next;
    this.names[slot] = name;
    this.values[slot] = value;
    this.next = (slot + 1) & this.mask;
    this.count++;
    this.bytes += bytes;
  }

  resize(bytesMax: number): void {
    this.bytesMax = bytesMax;
    this.evictTo(bytesMax);
  }

  private evictTo(bytesMax: number): void {
    while (this.count > 0 && this.bytes > bytesMax) {
      const slot = (this.next - this.count) & this.mask;
      this.bytes -= this.names[slot]!.length + this.values[slot]!.length + ENTRY_OVERHEAD_BYTES;
      this.count--;
      // Or the strings would live on until the ring comes round.
      this.names[slot] = '';
      this.values[slot] = '';
    }
  }

  /** Called when every slot is taken: the oldest entry is at `next`. */
  private grow(): void {
    const free: string[] = new Array(this.count).fill('');
    this.names = [...this.names.slice(this.next), ...this.names.slice(0, this.next), ...free];
    this.values = [...this.values.slice(this.next), ...this.values.slice(0, this.next), ...free];
    this.next = this.count;
    this.mask = this.names.length - 1;
  }
}

import { STATIC_LAST } from './static-table.js';

/** Size of an entry in addition to its name and value (RFC 7541, 4.1). */
export const ENTRY_OVERHEAD_BYTES = 32;

const SLOTS_AT_FIRST = 16;

/**
 * Dynamic table (RFC 7541, 2.3.2): the newest entry has index 62, older ones follow. A ring buffer,
 * so that adding and evicting move no entry. Each entry counts at least 32 bytes, so the bound on
 * bytes also bounds the slots.
 */
export class DynamicTable {
  private names: string[] = new Array(SLOTS_AT_FIRST).fill('');
  private values: string[] = new Array(SLOTS_AT_FIRST).fill('');
  private mask = SLOTS_AT_FIRST - 1;
  /** Slot of the next entry, wrapped by `mask`. */
  private next = 0;
  private count = 0;
  private bytes = 0;

  constructor(private bytesMax: number) {}

  get sizeBytes(): number {
    return this.bytes;
  }

  /** Returns the slot of a wire index, or -1. Valid until the next `add` or `resize`. */
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

  /**
   * Evicts, then adds; an entry larger than the table empties it and is not stored (RFC 7541, 4.4).
   */
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
      // Otherwise the strings would stay alive until the slot is reused.
      this.names[slot] = '';
      this.values[slot] = '';
    }
  }

  /** Doubles the ring; called when every slot is used, so the oldest entry is at `next`. */
  private grow(): void {
    const free: string[] = new Array(this.count).fill('');
    this.names = [...this.names.slice(this.next), ...this.names.slice(0, this.next), ...free];
    this.values = [...this.values.slice(this.next), ...this.values.slice(0, this.next), ...free];
    this.next = this.count;
    this.mask = this.names.length - 1;
  }
}

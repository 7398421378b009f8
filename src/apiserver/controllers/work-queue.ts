import type { Clock } from '../../base/clock.js';

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Does the work of a key, never concurrently. A number: repeat after that many ms. */
  readonly work: (key: string) => Promise<number | undefined>;
  /** Called after work that failed and is retried. */
  readonly onFailure: (key: string, error: Error, failures: number) => void;
  /** Called when a full queue has room again: keys were rejected meanwhile. */
  readonly onRoom?: () => void;
  readonly concurrencyMax: number;
  readonly keysMax: number;
  /** Token bucket: rate of starts, with bursts of `burstMax`. */
  readonly perSecondMax: number;
  readonly burstMax: number;
  readonly backOff: { readonly firstMs: number; readonly maxMs: number };
}

/** A queue of keys, each at most once, with back-off, bounded concurrency and rate. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #ready = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  /** Keys that were added again during their work. */
  readonly #again = new Set<string>();
  readonly #later = new Map<string, () => void>();
  readonly #failures = new Map<string, number>();
  #tokens: number;
  #refilledAtMs: number;
  #cancelRefill: (() => void) | undefined;
  #overflowed = false;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#tokens = options.burstMax;
    this.#refilledAtMs = options.clock.nowMs();
  }

  get size(): number {
    return this.#ready.size + this.#later.size + this.#running.size;
  }

  /** Adds a key at once, even if it waits after a failure. */
  add(key: string): void {
    if (this.#closed || this.#ready.has(key)) return;
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    if (!this.#hasRoomFor(key)) return;
    this.#later.get(key)?.();
    this.#later.delete(key);
    this.#ready.add(key);
    this.#pump();
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#closed || this.#ready.has(key) || this.#later.has(key) || !this.#hasRoomFor(key)) return;
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, cancel);
  }

  /** Starts no more work; resolves when running work has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRefill?.();
    for (const cancel of this.#later.values()) cancel();
    this.#later.clear();
    this.#ready.clear();
    await Promise.all(this.#running.values());
  }

  #hasRoomFor(key: string): boolean {
    if (this.size < this.#options.keysMax || this.#later.has(key)) return true;
    this.#overflowed = true;
    this.#failures.delete(key);
    return false;
  }

  #pump(): void {
    for (const key of this.#ready) {
      if (this.#closed || this.#running.size >= this.#options.concurrencyMax) return;
      if (!this.#takeToken()) return;
      this.#ready.delete(key);
      this.#running.set(key, this.#run(key));
    }
  }

  async #run(key: string): Promise<void> {
    // Deferred: work must not begin before `add` has returned.
    await Promise.resolve();
    let retryMs: number | undefined;
    try {
      retryMs = await this.#options.work(key);
      this.#failures.delete(key);
    } catch (error) {
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      const { firstMs, maxMs } = this.#options.backOff;
      retryMs = Math.min(maxMs, firstMs * 2 ** Math.min(20, failures - 1));
      if (!this.#closed) this.#options.onFailure(key, error as Error, failures);
    }
    this.#running.delete(key);
    if (this.#closed) return;
    const again = this.#again.delete(key);
    if (again && !this.#failures.has(key)) this.add(key);
    else if (retryMs !== undefined) this.addAfter(key, retryMs);
    else if (again) this.add(key);
    this.#noticeRoom();
    this.#pump();
  }

  #noticeRoom(): void {
    if (!this.#overflowed || this.size > this.#options.keysMax / 2) return;
    this.#overflowed = false;
    this.#options.onRoom?.();
  }

  #takeToken(): boolean {
    const { clock, perSecondMax, burstMax } = this.#options;
    const nowMs = clock.nowMs();
    const gained = ((nowMs - this.#refilledAtMs) / 1_000) * perSecondMax;
    this.#tokens = Math.min(burstMax, this.#tokens + Math.max(0, gained));
    this.#refilledAtMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return true;
    }
    this.#cancelRefill ??= clock.after(Math.ceil(1_000 / perSecondMax), () => {
      this.#cancelRefill = undefined;
      this.#pump();
    });
    return false;
  }
}

import type { ConnectionClock, ServerConnectionLimits } from './http2-limits.js';

export interface DeadlineEvents {
  headersLate(): void;
  /** Called when no first request arrived in time, or when no stream was open for `idleMs`. */
  idle(): void;
}

/**
 * Idle timeout and header timeout of one connection, on a single timer. Requests only store a
 * deadline; the timer is set again when it fires. The first request must arrive within the shorter
 * of both timeouts.
 */
export class ConnectionDeadlines {
  readonly #clock: ConnectionClock;
  readonly #limits: ServerConnectionLimits;
  readonly #events: DeadlineEvents;
  #idleAtMs: number;
  #isIdle = true;
  /** Deadline of the open header block, and that block's number. */
  #headersAtMs = Number.POSITIVE_INFINITY;
  #block = -1;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(clock: ConnectionClock, limits: ServerConnectionLimits, events: DeadlineEvents) {
    this.#clock = clock;
    this.#limits = limits;
    this.#events = events;
    this.#idleAtMs = clock.nowMs() + Math.min(limits.headerTimeoutMs, limits.idleMs);
    this.#setTimer();
  }

  busy(): void {
    this.#isIdle = false;
  }

  idleFromNow(): void {
    this.#isIdle = true;
    this.#idleAtMs = this.#clock.nowMs() + this.#limits.idleMs;
  }

  /**
   * Starts or clears the header deadline; called after each read. `inside`: the read ended within a
   * header block. `blocksBefore`: the number of complete blocks, which identifies the open one.
   */
  watchHeaders(inside: boolean, blocksBefore: number): void {
    if (!inside) {
      this.#headersAtMs = Number.POSITIVE_INFINITY;
      this.#block = -1;
      return;
    }
    if (blocksBefore === this.#block) return;
    this.#block = blocksBefore;
    this.#headersAtMs = this.#clock.nowMs() + this.#limits.headerTimeoutMs;
    if (this.#headersAtMs < this.#timerAtMs) this.#setTimer();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #setTimer(): void {
    this.stop();
    const nowMs = this.#clock.nowMs();
    const idleAtMs = this.#isIdle ? this.#idleAtMs : nowMs + this.#limits.idleMs;
    this.#timerAtMs = Math.min(idleAtMs, this.#headersAtMs);
    this.#cancel = this.#clock.after(Math.max(1, this.#timerAtMs - nowMs), () => this.#look());
  }

  #look(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#headersAtMs) this.#events.headersLate();
    else if (this.#isIdle && nowMs >= this.#idleAtMs) this.#events.idle();
    else this.#setTimer();
  }
}

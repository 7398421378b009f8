import type { ConnectionClock, ServerConnectionLimits } from '../../http2/limits.js';

export interface DeadlineEvents {
  headersLate(): void;
  /** Nothing asked for in time, or for too long. */
  idle(): void;
}

/**
 * A connection's times: one timer that is set again when it runs out, so that requests only note the time. Until the
 * first request the connection is held to the shorter of both limits.
 */
export class ConnectionDeadlines {
  readonly #clock: ConnectionClock;
  readonly #limits: ServerConnectionLimits;
  readonly #events: DeadlineEvents;
  #idleAtMs: number;
  #isIdle = true;
  /** When the block of headers that is open now has to be complete, and which one that is. */
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

  /** After each read: whether it ended inside a block of headers, and how many blocks there were before. */
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

import type { Clock } from '../../base/clock.js';

export interface HealthBounds {
  /** Cool-down after the first failure; doubles with each further one. */
  readonly coolDownFirstMs: number;
  /** Short, because a server that is back must be found soon, and one probe of a dead address costs next to nothing. */
  readonly coolDownMaxMs: number;
  /** Failures are forgiven after this long without one; a probe that answers does not yet forgive. */
  readonly forgiveAfterMs: number;
}

export const HEALTH_BOUNDS: HealthBounds = { coolDownFirstMs: 100, coolDownMaxMs: 4_000, forgiveAfterMs: 10_000 };

export interface EndpointHealthOptions {
  readonly clock: Clock;
  readonly random?: () => number;
  readonly bounds?: Partial<HealthBounds>;
  /** Called after `usable()` has changed. */
  readonly onChange?: (() => void) | undefined;
}

/**
 * Whether an address may get traffic. It starts out unusable; any failure makes it so again; only a probe that
 * answered, sent after the cool-down, makes it usable.
 */
export class EndpointHealth {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #bounds: HealthBounds;
  readonly #onChange: () => void;
  #usable = false;
  /** Since the last forgiving, for the cool-down. */
  #failures = 0;
  #failureCount = 0;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #probeFromMs = Number.NEGATIVE_INFINITY;
  #answeredAtMs: number | undefined;
  #lastError: string | undefined;

  constructor(options: EndpointHealthOptions) {
    this.#clock = options.clock;
    this.#random = options.random ?? Math.random;
    this.#bounds = { ...HEALTH_BOUNDS, ...options.bounds };
    this.#onChange = options.onChange ?? (() => {});
  }

  usable(): boolean {
    return this.#usable;
  }

  get lastError(): string | undefined {
    return this.#lastError;
  }

  get answeredAtMs(): number | undefined {
    return this.#answeredAtMs;
  }

  /** Grows with each failure that counted; tells a probe whether traffic failed while it was under way. */
  get failureCount(): number {
    return this.#failureCount;
  }

  /** How long a probe must wait still. */
  probeInMs(): number {
    return Math.max(0, this.#probeFromMs - this.#clock.nowMs());
  }

  /** A request got its answer. Says nothing new of an endpoint that is cooling down: it may be an old request's. */
  answered(): void {
    if (this.#usable) this.#answeredAtMs = this.#clock.nowMs();
  }

  /** A probe got its answer. */
  probed(): void {
    const nowMs = this.#clock.nowMs();
    this.#setUsable(true);
    this.#answeredAtMs = nowMs;
    this.#lastError = undefined;
    if (nowMs - this.#failedAtMs >= this.#bounds.forgiveAfterMs) this.#failures = 0;
  }

  /** A request or a probe failed. Failures within a cool-down are echoes of the first and do not lengthen it. */
  failed(why: string): void {
    this.#lastError = why;
    const nowMs = this.#clock.nowMs();
    if (!this.#usable && nowMs < this.#probeFromMs) return;
    this.#setUsable(false);
    this.#failures++;
    this.#failureCount++;
    this.#failedAtMs = nowMs;
    const { coolDownFirstMs, coolDownMaxMs } = this.#bounds;
    const doubledMs = Math.min(coolDownMaxMs, coolDownFirstMs * 2 ** Math.min(20, this.#failures - 1));
    this.#probeFromMs = nowMs + doubledMs * (0.5 + this.#random() / 2);
  }

  #setUsable(usable: boolean): void {
    if (this.#usable === usable) return;
    this.#usable = usable;
    this.#onChange();
  }
}

import type { Clock } from '../../base/clock.js';
import { COOL_DOWN, type CoolDownBounds } from '../../http/server-health.js';

export interface EndpointHealthOptions {
  readonly clock: Clock;
  readonly random?: () => number;
  readonly bounds?: Partial<CoolDownBounds>;
  /** Called after `usable()` has changed. */
  readonly onChange?: (() => void) | undefined;
}

/**
 * Whether an address may get traffic. Unusable at first and after any failure; usable after a
 * successful probe. The caller schedules probes: `probeInMs` is the rest of the cool-down.
 */
export class EndpointHealth {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #bounds: CoolDownBounds;
  readonly #onChange: () => void;
  #usable = false;
  /** Failures since the last reset by `forgiveAfterMs`; exponent of the cool-down. */
  #failures = 0;
  #failureCount = 0;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #probeFromMs = Number.NEGATIVE_INFINITY;
  #answeredAtMs: number | undefined;
  #lastError: string | undefined;

  constructor(options: EndpointHealthOptions) {
    this.#clock = options.clock;
    this.#random = options.random ?? Math.random;
    this.#bounds = { ...COOL_DOWN, ...options.bounds };
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

  /** Number of cool-downs. A probe compares it to detect traffic that failed meanwhile. */
  get failureCount(): number {
    return this.#failureCount;
  }

  /** Returns the rest of the cool-down in ms, 0 if a probe may be sent now. */
  probeInMs(): number {
    return Math.max(0, this.#probeFromMs - this.#clock.nowMs());
  }

  /** Records an answer. Ignored in a cool-down: the request may precede the failure. */
  answered(): void {
    if (this.#usable) this.#answeredAtMs = this.#clock.nowMs();
  }

  /** Records that a probe was answered. */
  probed(): void {
    const nowMs = this.#clock.nowMs();
    this.#setUsable(true);
    this.#answeredAtMs = nowMs;
    this.#lastError = undefined;
    if (nowMs - this.#failedAtMs >= this.#bounds.forgiveAfterMs) this.#failures = 0;
  }

  /** Records a failure. Those during a cool-down have the same cause and do not lengthen it. */
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

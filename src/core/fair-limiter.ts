import type { Clock } from './clock.js';
import { StatusError } from './status-error.js';

export interface FairLimiterOptions {
  readonly inFlightMax: number;
  /** Waiting in all, whoever they belong to. */
  readonly queueMax: number;
  /** Waiting of one flow. A quarter of the queue unless told otherwise. */
  readonly queuePerFlowMax?: number;
  readonly waitMsMax: number;
  readonly clock: Clock;
}

/** Gives the place back. Calling it again does nothing. */
export type Release = () => void;

/** Registers a callback for "the caller has gone"; returns how to take it back. */
export type OnAbort = (listener: () => void) => () => void;

interface Waiter {
  readonly flow: string;
  readonly admit: (release: Release) => void;
  readonly refuse: (error: StatusError) => void;
  cancelTimer: () => void;
  cancelAbort: () => void;
}

/**
 * Bounds how much is under way at once. While places are free nobody waits and nothing is allocated but the release.
 * When there are none, callers wait by flow, and the flows take turns: a flow with a thousand waiting gets its next
 * place after every other flow has had one. A full queue makes room for a flow at the expense of the longest one.
 */
export class FairLimiter {
  readonly #options: Required<FairLimiterOptions>;
  /** In the order of their turns: the first flow is served next, and goes to the back if it has more. Never empty sets. */
  readonly #flows = new Map<string, Set<Waiter>>();
  #inFlight = 0;
  #queued = 0;

  constructor(options: FairLimiterOptions) {
    if (!(options.inFlightMax >= 1)) throw new RangeError('inFlightMax must be at least 1');
    this.#options = { queuePerFlowMax: Math.max(1, Math.ceil(options.queueMax / 4)), ...options };
  }

  get stats(): { readonly inFlight: number; readonly queued: number; readonly flows: number } {
    return { inFlight: this.#inFlight, queued: this.#queued, flows: this.#flows.size };
  }

  /** Throws or rejects with StatusError (TooManyRequests). */
  acquire(flow: string, onAbort: OnAbort): Release | Promise<Release> {
    if (this.#inFlight < this.#options.inFlightMax) {
      this.#inFlight += 1;
      return this.#release();
    }
    this.#makeRoom(flow);
    return new Promise((admit, refuse) => this.#wait(flow, admit, refuse, onAbort));
  }

  #makeRoom(flow: string): void {
    const { queueMax, queuePerFlowMax } = this.#options;
    const own = this.#flows.get(flow)?.size ?? 0;
    if (own >= queuePerFlowMax) throw tooMany('too many requests of this caller are waiting');
    if (this.#queued < queueMax) return;
    let longest: Set<Waiter> | undefined;
    for (const waiters of this.#flows.values()) if (waiters.size > (longest?.size ?? 0)) longest = waiters;
    // Equal shares stay as they are, or two flows would drive each other out in turn.
    if (!longest || longest.size <= own + 1) throw tooMany('too many requests are waiting');
    const youngest = [...longest].at(-1)!;
    this.#leave(youngest);
    youngest.refuse(tooMany('too many requests are waiting, most of them of this caller'));
  }

  #wait(flow: string, admit: Waiter['admit'], refuse: Waiter['refuse'], onAbort: OnAbort): void {
    const waiter: Waiter = { flow, admit, refuse, cancelTimer: () => {}, cancelAbort: () => {} };
    const waiters = this.#flows.get(flow);
    if (waiters) waiters.add(waiter);
    else this.#flows.set(flow, new Set([waiter]));
    this.#queued += 1;
    const giveUp = (message: string) => {
      if (this.#leave(waiter)) refuse(tooMany(message));
    };
    waiter.cancelTimer = this.#options.clock.after(this.#options.waitMsMax, () =>
      giveUp('waited too long for a place'),
    );
    const cancelAbort = onAbort(() => giveUp('the caller left while waiting'));
    // A caller that had left already is out of the queue again by now.
    if (this.#isWaiting(waiter)) waiter.cancelAbort = cancelAbort;
    else cancelAbort();
  }

  #isWaiting(waiter: Waiter): boolean {
    return this.#flows.get(waiter.flow)?.has(waiter) ?? false;
  }

  /** Out of the queue, with everything that could still call back; false if it was out already. */
  #leave(waiter: Waiter): boolean {
    const waiters = this.#flows.get(waiter.flow);
    if (!waiters?.delete(waiter)) return false;
    if (waiters.size === 0) this.#flows.delete(waiter.flow);
    this.#queued -= 1;
    waiter.cancelTimer();
    waiter.cancelAbort();
    return true;
  }

  #release(): Release {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#passOn();
    };
  }

  /** A place that is given back goes straight to the next in turn: nobody who comes now may slip in before. */
  #passOn(): void {
    const next = this.#flows.entries().next();
    if (next.done) {
      this.#inFlight -= 1;
      return;
    }
    const [flow, waiters] = next.value;
    const waiter: Waiter = waiters.values().next().value!;
    this.#leave(waiter);
    if (waiters.size > 0) {
      this.#flows.delete(flow);
      this.#flows.set(flow, waiters);
    }
    waiter.admit(this.#release());
  }
}

function tooMany(message: string): StatusError {
  return new StatusError('TooManyRequests', message, { retryAfterSeconds: 1 });
}

import type { Clock } from '../base/clock.js';
import { discard } from './discard.js';
import type { Reply } from './exchange.js';
import type { OnAbort } from './on-abort.js';

export class DeadlineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DeadlineError';
  }
}

/** One bound on time for work made of one or more requests. The creator must `end` it. */
export class Deadline {
  readonly #listeners = new Set<() => void>();
  readonly #cancelTimer: () => void;
  #error: Error | undefined;

  /** `work` names the work in a DeadlineError; a function makes the error that callers get instead of one. */
  constructor(clock: Clock, timeoutMs: number, work: string | (() => Error)) {
    this.#cancelTimer = clock.after(timeoutMs, () =>
      this.#expire(
        typeof work === 'function' ? work() : new DeadlineError(`${work}: timeout, no reply in ${timeoutMs} ms`),
      ),
    );
  }

  /** The time is up, or the work was cancelled. */
  get isOver(): boolean {
    return this.#error !== undefined;
  }

  readonly onAbort: OnAbort = (listener) => {
    if (this.#error) {
      listener();
      return () => {};
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Ends the work before its time is up. */
  cancel(why: string): void {
    this.#expire(new DeadlineError(why));
  }

  /** Settles as the work does, or rejects when the time is up. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = this.onAbort(() => reject(this.#error!));
      work.then(resolve, reject).finally(forget);
    });
  }

  /** Like `race`; a reply that arrives too late is discarded, and the body of one in time is cut when the time is up. */
  async reply(sent: Promise<Reply>): Promise<Reply> {
    sent.then(
      (reply) => this.onAbort(() => discard(reply, this.#error!)),
      () => {},
    );
    return this.race(sent);
  }

  end(): void {
    this.#cancelTimer();
    this.#listeners.clear();
  }

  #expire(error: Error): void {
    if (this.#error) return;
    this.#error = error;
    this.#cancelTimer();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

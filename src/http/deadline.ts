import type { Clock } from '../base/clock.js';
import type { BodyStream } from './body-stream.js';
import type { Reply } from './exchange.js';

/** Registers a callback for "this is no longer wanted"; returns how to take it back. Fits `OutgoingRequest.onAbort`. */
export type OnAbort = (listener: () => void) => () => void;

export class DeadlineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DeadlineError';
  }
}

/** One bound on time for a piece of work made of several requests. Whoever makes one must `end` it. */
export class Deadline {
  readonly #listeners = new Set<() => void>();
  readonly #cancelTimer: () => void;
  #error: DeadlineError | undefined;

  constructor(clock: Clock, timeoutMs: number, what: string) {
    this.#cancelTimer = clock.after(timeoutMs, () =>
      this.#expire(new DeadlineError(`${what}: no answer in ${timeoutMs} ms`)),
    );
  }

  readonly onAbort: OnAbort = (listener) => {
    if (this.#error) {
      listener();
      return () => {};
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Gives up the work before its time. */
  cancel(why: string): void {
    this.#expire(new DeadlineError(why));
  }

  /** The work's outcome, or a DeadlineError if that does not come in time. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = this.onAbort(() => reject(this.#error!));
      work.then(resolve, reject).finally(forget);
    });
  }

  /** Like `race`; a reply that comes too late is dropped, and one whose body hangs is cut when time is up. */
  async reply(sent: Promise<Reply>): Promise<Reply> {
    sent.then(
      (reply) => {
        if (isStream(reply.body)) this.onAbort(() => (reply.body as BodyStream).cancel(this.#error!));
      },
      () => {},
    );
    return this.race(sent);
  }

  end(): void {
    this.#cancelTimer();
    this.#listeners.clear();
  }

  #expire(error: DeadlineError): void {
    if (this.#error) return;
    this.#error = error;
    this.#cancelTimer();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

/** Whoever does not read a reply must say so, or its connection stays taken. */
export function dropBody(reply: Reply, why: string): void {
  if (isStream(reply.body)) reply.body.cancel(new Error(why));
}

function isStream(body: Reply['body']): body is BodyStream {
  return body !== null && !(body instanceof Uint8Array);
}

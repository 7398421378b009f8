import type { Clock } from '../../base/clock.js';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancel: () => void;
}

/** Bound on what one side has asked and not yet heard of; beyond, the other side hangs and asking more helps nobody. */
const QUESTIONS_MAX = 1_000;

/** Questions on their way through a channel, each with a bound on its wait. */
export class PendingAnswers {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `send` gets the number under which the answer will come. Rejects when there is none in time. */
  ask<Answer>(send: (id: number) => void, timeoutMs: number): Promise<Answer> {
    if (this.#waiting.size >= QUESTIONS_MAX) return Promise.reject(new Error('too many questions are unanswered'));
    const id = ++this.#last;
    return new Promise<Answer>((resolve, reject) => {
      const cancel = this.#clock.after(timeoutMs, () => {
        this.#waiting.delete(id);
        reject(new Error(`no answer in ${timeoutMs} ms`));
      });
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, cancel });
      send(id);
    });
  }

  answered(id: number, value: unknown): void {
    this.#take(id)?.resolve(value);
  }

  failed(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** Nobody is there to answer any more. */
  failAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.failed(id, error);
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.cancel();
    return waiting;
  }
}

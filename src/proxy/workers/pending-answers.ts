import type { Clock } from '../../base/clock.js';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancel: () => void;
}

/** Bound on unanswered requests to the other process; beyond it, that process hangs. */
const QUESTIONS_MAX = 1_000;

/** Requests through a channel that wait for an answer, each with a timeout. */
export class PendingAnswers {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `send` gets the number of the request. Rejects after the timeout. */
  ask<Answer>(send: (id: number) => void, timeoutMs: number): Promise<Answer> {
    if (this.#waiting.size >= QUESTIONS_MAX)
      return Promise.reject(new Error('too many unanswered requests between head and worker'));
    const id = ++this.#last;
    return new Promise<Answer>((resolve, reject) => {
      const cancel = this.#clock.after(timeoutMs, () => {
        this.#waiting.delete(id);
        reject(new Error(`timeout: no answer between head and worker within ${timeoutMs} ms`));
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

  /** Rejects all waiting requests: the other process has ended. */
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

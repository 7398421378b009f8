/** Work on one request that takes longer is continued in a later turn of the event loop. */
export const SLICE_MS_MAX = 10;

/**
 * Divides long work on one request into slices, so that other clients are served in between. Work that fits into one slice
 * never waits: `if (slices.isOver) await slices.next();` costs a small request one reading of the clock.
 */
export class WorkSlices {
  #startedMs = performance.now();

  /** Starts the first slice anew, after the request has waited for something else. */
  begin(): void {
    this.#startedMs = performance.now();
  }

  get isOver(): boolean {
    return performance.now() - this.#startedMs >= SLICE_MS_MAX;
  }

  async next(): Promise<void> {
    await new Promise<void>(resumeLater);
    this.#startedMs = performance.now();
  }

  /** Runs work that pauses at each `yield`. Resolves with what it returns. */
  async run<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      if (this.isOver) await this.next();
    }
  }
}

/** Runs work that pauses at each `yield` to its end without a pause. */
export function runAtOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Requests whose next slice is due, in order. Bounded by the number of requests in flight. */
const waiting: (() => void)[] = [];

/** One slice for each turn: many long requests at once must not add up to one long turn. */
function resumeLater(resume: () => void): void {
  if (waiting.push(resume) === 1) setImmediate(resumeFirst);
}

function resumeFirst(): void {
  const resume = waiting.shift();
  if (waiting.length > 0) setImmediate(resumeFirst);
  resume?.();
}

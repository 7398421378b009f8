/** Bound on continuous work for one request; the rest continues in a later turn of the event loop. */
export const SLICE_MS_MAX = 10;
/** Bytes of small items between two readings of the clock, which cost more than one item. */
const BYTES_BETWEEN_READINGS = 64 * 1024;

/**
 * Divides long work on one request into slices, so that other clients are served in between. Work
 * that fits into one slice never waits: `if (slices.isOver) await slices.next();` costs a small
 * request one reading of the clock.
 */
export class WorkSlices {
  #startedMs = performance.now();
  #unreadBytes = 0;

  /** Restarts the first slice, after the request has waited for something else. */
  begin(): void {
    this.#startedMs = performance.now();
  }

  get isOver(): boolean {
    return performance.now() - this.#startedMs >= SLICE_MS_MAX;
  }

  /** Same as `isOver`, after an item: reads the clock once per `BYTES_BETWEEN_READINGS`. */
  isOverAfter(bytes: number): boolean {
    this.#unreadBytes += bytes;
    if (this.#unreadBytes < BYTES_BETWEEN_READINGS) return false;
    this.#unreadBytes = 0;
    return this.isOver;
  }

  async next(): Promise<void> {
    await new Promise<void>(resumeLater);
    this.#startedMs = performance.now();
  }

  /** Runs a generator in slices, with a possible pause at each `yield`; returns its value. */
  async run<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      if (this.isOver) await this.next();
    }
  }
}

/** Runs a generator to its end without pauses. */
export function runAtOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Requests that wait for their next slice, in order. Bounded by the number of requests in flight. */
const waiting: (() => void)[] = [];

/** Resumes one request per turn: many long requests at once must not add up to one long turn. */
function resumeLater(resume: () => void): void {
  if (waiting.push(resume) === 1) setImmediate(resumeFirst);
}

function resumeFirst(): void {
  const resume = waiting.shift();
  if (waiting.length > 0) setImmediate(resumeFirst);
  resume?.();
}

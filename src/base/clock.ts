/** Source of time, replaced in tests. */
export interface Clock {
  nowMs(): number;
  /** Calls back once after a delay of any length; returns a cancel function. Never keeps alive. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The longest delay of a Node.js timer, 24.8 days; with a longer one Node.js calls back at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Calls back once after a delay of any length, also Infinity; returns a function that cancels. Input that arrived in the
 * meantime is read first: a process that was stopped, or kept busy, would otherwise take replies that are there for late.
 */
export function startTimer(delayMs: number, callback: () => void, { keepsAlive = false } = {}): () => void {
  let timer: NodeJS.Timeout;
  let immediate: NodeJS.Immediate | undefined;
  const afterInput = (): void => {
    immediate = setImmediate(callback);
  };
  const wait = (leftMs: number): void => {
    const isLast = !(leftMs > TIMER_MS_MAX);
    timer = setTimeout(isLast ? afterInput : () => wait(leftMs - TIMER_MS_MAX), isLast ? leftMs : TIMER_MS_MAX);
    if (!keepsAlive) timer.unref();
  };
  wait(delayMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => startTimer(delayMs, callback),
};

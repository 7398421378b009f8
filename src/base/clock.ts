/** Source of time, replaced in tests. */
export interface Clock {
  nowMs(): number;
  /** Calls back once after a delay of any length; returns a cancel function. Never keeps alive. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The longest delay of a Node.js timer, 24.8 days; with a longer one Node.js calls back at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Calls back once after a delay of any length, also Infinity; returns a function that cancels. */
export function startTimer(delayMs: number, callback: () => void, { keepsAlive = false } = {}): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    const isLast = !(leftMs > TIMER_MS_MAX);
    timer = setTimeout(isLast ? callback : () => wait(leftMs - TIMER_MS_MAX), isLast ? leftMs : TIMER_MS_MAX);
    if (!keepsAlive) timer.unref();
  };
  wait(delayMs);
  return () => clearTimeout(timer);
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => startTimer(delayMs, callback),
};

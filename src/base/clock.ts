/** Time, so that tests need not wait for it. */
export interface Clock {
  nowMs(): number;
  /** Calls back once after a delay of any length; returns how to call it off. Never keeps the process alive. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The longest delay of a timer of Node.js, 24.8 days: after a longer one it would call back at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Calls back once after a delay of any length, infinite ones included; returns how to cancel. */
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

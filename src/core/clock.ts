/** Time, so that tests need not wait for it. */
export interface Clock {
  nowMs(): number;
  /** Calls back once after a delay; returns how to call it off. Never keeps the process alive. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

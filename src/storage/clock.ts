/** Time, so that tests need not wait for it. The shape is that of the server's own clock, which may be handed in. */
export interface Clock {
  nowMs(): number;
  /** Calls back once after a delay; returns how to call it off. Must not keep the process alive. */
  after(delayMs: number, callback: () => void): () => void;
}

export const wallClock: Clock = {
  nowMs: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

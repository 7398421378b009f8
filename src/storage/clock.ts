/** Time, so that tests need not wait for it. The shape is that of the server's own clock, which may be handed in. */
export interface Clock {
  nowMs(): number;
  /** Calls back once after a delay; returns how to call it off. Must not keep the process alive. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The longest delay of a timer of Node.js. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The system's time. A delay above 24.8 days is shortened to that. */
export const wallClock: Clock = {
  nowMs: () => Date.now(),
  after(delayMs, callback) {
    // A timer with a longer delay would call back at once, and whoever sets it again would do so without end.
    const timer = setTimeout(callback, Math.min(delayMs, TIMER_MS_MAX));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

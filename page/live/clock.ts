import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { isOld, type Live } from './connection.js';

const TICK_MS = 1_000;

/** Adds to monotonic time for the clock of the server: that of the browser may be wrong. */
export const ClockOffset = createContext(0);

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Monotonic milliseconds, anew each second; one timer for all of the page. */
export function useMonotonicMs(): number {
  const [, setTick] = useState(0);
  useEffect(() => subscribe(() => setTick((tick) => tick + 1)), []);
  return performance.now();
}

/** Whether what is shown is too old for a verdict, anew each second. */
export function useIsOld(live: Live): boolean {
  return isOld(live, { nowMs: useMonotonicMs(), wallMs: Date.now() });
}

/** The time of the server, anew each second. */
export function useServerMs(): number {
  const offset = useContext(ClockOffset);
  return useMonotonicMs() + offset;
}

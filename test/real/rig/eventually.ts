import { setTimeout as delay } from 'node:timers/promises';

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Thrown by a probe that knows it can never succeed. */
export class GiveUp extends Error {}

const TIMEOUT_MS = 15_000;
const INTERVAL_MS = 100;

/**
 * Asks again until the probe answers something other than undefined or false. A probe that throws is asked again too;
 * its last error is in the message when the time is over.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS }: EventuallyOptions = {},
): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      if (error instanceof GiveUp) throw error;
      last = error;
    }
    if (Date.now() >= deadlineMs) break;
    await delay(intervalMs);
  }
  const why = last === undefined ? '' : `; last error: ${last instanceof Error ? last.message : String(last)}`;
  throw new Error(`not within ${timeoutMs} ms: ${what}${why}`);
}

/** Fails if the promise takes longer. The work itself goes on: give it a signal where it can be stopped. */
export async function within<T>(what: string, timeoutMs: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what}: not done within ${timeoutMs} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

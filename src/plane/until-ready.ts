import { setTimeout as delay } from 'node:timers/promises';
import type { Destination } from '../core/outgoing.js';
import { OwnRequests } from '../transport/own-requests.js';

const READY_MS_MAX = 60_000;
const POLL_MS = 50;
const PROBE_TIMEOUT_MS = 2_000;

export interface ReadyOptions {
  readonly name: string;
  /** Throws when waiting on is no use. */
  readonly check: () => void;
  /** What to read when it does not come up. */
  readonly hint: string;
  readonly limitMs?: number;
}

/** Resolves when the server at that address takes requests. */
export async function untilReady(
  destination: Destination,
  { name, check, hint, limitMs = READY_MS_MAX }: ReadyOptions,
): Promise<void> {
  const own = new OwnRequests({ frontProxy: true, userHeader: 'X-Remote-User' });
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    check();
    const verdict = await own.probeReady(destination, PROBE_TIMEOUT_MS).catch((error: Error) => error.message);
    if (verdict === true) return;
    if (performance.now() > deadlineMs)
      throw new Error(`${name} is not ready after ${limitMs / 1000} s: ${verdict} (${hint})`);
    await delay(POLL_MS);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Destination } from '../../http/outgoing.js';
import { NO_PEER_VIEW } from '../../kube/accept.js';
import { StraddleRequests } from '../../proxy/identity/straddle-requests.js';
import { askServer } from './plane-client.js';

const READY_MS_MAX = 60_000;
const POLL_MS = 50;

export interface ReadyOptions {
  readonly name: string;
  /** Throws if the server can no longer become ready. */
  readonly check?: () => void;
  /** The next step of the operator, for the error after a timeout. */
  readonly hint: string;
  readonly limitMs?: number | undefined;
}

/** Resolves when the server at the address is ready. */
export function untilReady(destination: Destination, options: ReadyOptions): Promise<void> {
  const straddleRequests = new StraddleRequests({ frontProxy: true, userHeader: 'X-Remote-User' });
  return until(() => straddleRequests.probeReady(destination), options);
}

/**
 * Resolves when the server replies for itself. A sidecar is ready as soon as peers can reply in its
 * place, which may be before it has seen that the server behind it is ready again.
 */
export function untilAnswersItself(destination: Destination, options: ReadyOptions): Promise<void> {
  return until(async () => {
    const { status } = await askServer(destination, 'GET', '/api', { accept: `${NO_PEER_VIEW},application/json` });
    return status === 200 || `answers ${status} for itself`;
  }, options);
}

async function until(
  ask: () => Promise<true | string>,
  { name, check, hint, limitMs = READY_MS_MAX }: ReadyOptions,
): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    check?.();
    const verdict = await ask().catch((error: Error) => error.message);
    if (verdict === true) return;
    if (performance.now() > deadlineMs)
      throw new Error(`${name} is not ready after ${limitMs / 1000} s: ${verdict} (${hint})`);
    await delay(POLL_MS);
  }
}

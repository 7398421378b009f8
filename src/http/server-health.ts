import type { Clock } from '../base/clock.js';
import type { Reply } from './exchange.js';
import type { OnAbort } from './on-abort.js';
import { wholeReply } from './whole-reply.js';

/*
 * Health of servers, the same for the server behind this process (upstream-host.ts), for peers (endpoint-health.ts,
 * tracked-endpoint.ts, peer-monitor.ts) and for the servers behind a front door (tools/plane/backends.ts):
 *
 * - A server gets no request before a probe has answered: it listens long before it can serve. While passthrough is on, the
 *   server behind this process gets every request at once, and only /readyz and requests of peers depend on its health.
 * - A probe is one GET /readyz, bounded by PROBE_TIMEOUT_MS. A server that does not reply in time hangs, and requests that
 *   wait for it are ended if another server could take them (alternatives.ts), else they wait for their own timeout: on a
 *   starved machine it replies later. One that refuses (503) is stopping or starting, and replies to the requests it has.
 * - A request that could not be sent makes a server unusable at once, without waiting for the next probe.
 * - An unusable server becomes usable by a probe only, never by a late reply to an old request.
 * - One loop repeats the probes of a server: RepeatedTask. The server behind this process and those behind a front door are
 *   probed every PROBE_INTERVAL_MS. Peers are visited less often (`readEveryMs` of peer-monitor.ts): for the address from which
 *   discovery is read, that read is the probe while it succeeds. A peer that failed is probed after a cool-down, which
 *   doubles with each failure.
 */

/** Between two probes of a server that requests are sent to directly. */
export const PROBE_INTERVAL_MS = 500;
/** For the whole reply to one probe. */
export const PROBE_TIMEOUT_MS = 2_000;

export interface CoolDownBounds {
  /** Cool-down after the first failure; doubles with each further one. */
  readonly coolDownFirstMs: number;
  /** Upper bound. Short, so that a recovered server is used soon; a probe is cheap. */
  readonly coolDownMaxMs: number;
  /** Time without a failure after which the next cool-down has its first value again. */
  readonly forgiveAfterMs: number;
}

export const COOL_DOWN: CoolDownBounds = { coolDownFirstMs: 100, coolDownMaxMs: 4_000, forgiveAfterMs: 10_000 };

const READYZ_BYTES_MAX = 64 * 1024;

/**
 * Sends one probe with `get` and returns the reply. Rejects with DeadlineError if the server hangs, and as `get` does if
 * it cannot be reached.
 */
export function probeReadyz(
  get: (path: string, onAbort: OnAbort) => Promise<Reply>,
  clock: Clock,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<Pick<Reply, 'status' | 'headers'>> {
  return wholeReply(
    (onAbort) => get('/readyz', onAbort),
    { clock, timeoutMs, bytesMax: READYZ_BYTES_MAX },
    'GET /readyz',
  );
}

import type { ClockReading, EndpointReading } from '../endpoint-reading.js';
import type { Inspection } from '../inspection.js';
import { type Finding, fail, ok, unknown, warn } from './check-line.js';

const WARN_MS = 2_000;
const FAIL_MS = 30_000;
const DATE_RESOLUTION_MS = 1_000;

/**
 * Returns how far the clock of a server is ahead of this machine's at least; negative if behind. The
 * Date header has whole seconds and was written between request and reply: within that, both are right.
 */
export function skewMs({ dateMs, askedAtMs, answeredAtMs }: ClockReading): number {
  if (dateMs > answeredAtMs) return dateMs - answeredAtMs;
  const latestMs = dateMs + DATE_RESOLUTION_MS;
  return latestMs < askedAtMs ? latestMs - askedAtMs : 0;
}

export function clockFinding({ clock, unreachable }: EndpointReading, inspection: Inspection): Finding {
  const check = 'clock';
  if (!clock)
    return unknown(check, unreachable === undefined ? 'its replies have no Date header' : 'it was not reached');
  const offMs = skewMs(clock);
  const size = Math.abs(offMs);
  if (size <= WARN_MS) return ok(check, "agrees with this machine's");
  const detail = `${(size / 1_000).toFixed(0)} s ${offMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const mend = allAlike(inspection, offMs)
    ? 'All servers agree with each other: set the clock of this machine right.'
    : 'Set its clock right and keep it so (chrony, ntpd): leases, certificates and tokens are judged by it.';
  return (size > FAIL_MS ? fail : warn)(check, detail, mend);
}

function allAlike({ servers }: Inspection, offMs: number): boolean {
  const clocks = servers.flatMap(({ readings }) => readings.slice(0, 1).flatMap(({ clock }) => clock ?? []));
  return clocks.length > 1 && clocks.every((clock) => Math.abs(skewMs(clock) - offMs) <= WARN_MS);
}

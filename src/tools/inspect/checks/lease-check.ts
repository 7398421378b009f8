import type { LeaseFact } from '../cluster-facts.js';
import { ageText } from '../columns.js';
import type { Finding } from './check-line.js';

/** Both kinds are renewed every 10 s; a kube-apiserver's is valid for an hour, which says nothing about now. */
const RENEWED_WITHIN_MS = 60_000;

export interface LeaseContext {
  /** By the clock of the control plane. */
  readonly nowMs: number;
  /** It is told apart by leases that its peers read: without one they may not find it. */
  readonly needed: boolean;
  readonly serverName: string;
}

export function leaseFinding(lease: LeaseFact | undefined, context: LeaseContext): Finding {
  const check = 'lease';
  if (!lease) {
    if (!context.needed)
      return { check, verdict: 'unknown', detail: 'has none, which is as it should be with the proxy off' };
    return {
      check,
      verdict: 'FAIL',
      detail: 'has no identity lease in kube-system, so its peers may not find it',
      mend: 'See its log: it needs the right to write leases there (Straddle: `straddle rbac | kubectl apply -f -`; kube-apiserver: the gate APIServerIdentity).',
    };
  }
  const ageMs = lease.renewedAtMs === undefined ? undefined : context.nowMs - lease.renewedAtMs;
  const validMs = Math.min(lease.durationSeconds * 1_000, RENEWED_WITHIN_MS);
  if (ageMs !== undefined && ageMs <= validMs) {
    return { check, verdict: 'ok', detail: `${lease.name}, renewed ${ageText(ageMs)} ago` };
  }
  const when = ageMs === undefined ? 'never renewed' : `last renewed ${ageText(ageMs)} ago`;
  return {
    check,
    verdict: 'FAIL',
    detail: `${lease.name} was ${when}`,
    mend: `If the server runs, its log says why it cannot renew its lease; if it is gone for good, \`kubectl delete lease -n kube-system ${lease.name}\` and \`straddle forget ${context.serverName}\`.`,
  };
}

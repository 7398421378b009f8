import { ageText } from '../../../base/age-text.js';
import type { LeaseFact } from '../cluster-facts.js';
import { type Finding, fail, ok, unknown } from './check-line.js';

/** Leases are renewed every 10 s, although that of a kube-apiserver is valid for an hour. */
const RENEWED_WITHIN_MS = 60_000;

export interface LeaseContext {
  /** By the clock of the control plane. */
  readonly nowMs: number;
  /** Whether peers find this server by its lease. */
  readonly needed: boolean;
  readonly serverName: string;
}

export function leaseFinding(lease: LeaseFact | undefined, context: LeaseContext): Finding {
  const check = 'lease';
  if (!lease) {
    if (!context.needed) return unknown(check, 'has none, which is as it should be with the proxy off');
    return fail(
      check,
      'has no identity lease in kube-system, so its peers may not find it',
      'See its log: it needs the right to write leases there (Straddle: `straddle rbac | kubectl apply -f -`; kube-apiserver: the gate APIServerIdentity).',
    );
  }
  const ageMs = lease.renewedAtMs === undefined ? undefined : context.nowMs - lease.renewedAtMs;
  const validMs = Math.min(lease.durationSeconds * 1_000, RENEWED_WITHIN_MS);
  if (ageMs !== undefined && ageMs <= validMs) return ok(check, `${lease.name}, renewed ${ageText(ageMs)} ago`);
  const when = ageMs === undefined ? 'never renewed' : `last renewed ${ageText(ageMs)} ago`;
  return fail(
    check,
    `${lease.name} was ${when}`,
    `If the server runs, its log says why it cannot renew its lease; if it is gone for good, \`kubectl delete lease -n kube-system ${lease.name}\` and \`straddle forget ${context.serverName}\`.`,
  );
}

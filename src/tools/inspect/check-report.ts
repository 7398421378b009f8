import { certificateFindings } from './checks/certificate-checks.js';
import {
  type CheckInput,
  type CheckLine,
  type Finding,
  fail,
  ok,
  protectorOf,
  unknown,
  warn,
} from './checks/check-line.js';
import { clockFinding } from './checks/clock-check.js';
import { frontProxyFindings } from './checks/front-proxy-check.js';
import { leaseFinding } from './checks/lease-check.js';
import { boundFindings, peerFindings } from './checks/peer-checks.js';
import { protectionFindings } from './checks/protection-checks.js';
import { trafficLines } from './checks/traffic-checks.js';
import { type EndpointReading, isServerDown } from './endpoint-reading.js';
import type { InspectedServer } from './inspection.js';
import { protectionOf } from './protection.js';
import { type LeaseConflict, leaseConflicts } from './servers.js';
import { conflictNote, NO_ADDRESS } from './status-report.js';

/** `straddle check -o json`. */
export interface CheckReport {
  readonly verdict: 'ok' | 'failed' | 'unknown';
  readonly checks: readonly CheckLine[];
  readonly notes: readonly string[];
}

/** Checks without which it is not known whether the protection is on. */
const ESSENTIAL: ReadonlySet<string> = new Set(['reachable', 'protection', 'gate', 'peer-ca', 'everywhere']);

export function checkReport(input: CheckInput): CheckReport {
  const { facts, servers } = input.inspection;
  const checks = [
    ...servers.flatMap((server) => linesOf(server, input)),
    ...trafficLines(input),
    ...leaseConflicts(facts).map((conflict) => line('*', conflict.address, conflictFinding(conflict))),
    line('*', null, everywhere(servers)),
  ];
  const failed = checks.some(({ verdict }) => verdict === 'FAIL');
  const open = checks.some(({ verdict, check }) => verdict === 'unknown' && ESSENTIAL.has(check));
  return {
    verdict: failed ? 'failed' : open ? 'unknown' : 'ok',
    checks,
    notes: [
      ...facts.notes,
      'addresses were dialled from this machine; between servers, each server\u2019s own word was taken',
    ],
  };
}

/** Returns 0 if all is well, 1 if a check failed, 2 if none failed but an essential one is unknown. */
export function exitCodeOf({ verdict }: CheckReport): number {
  return { ok: 0, failed: 1, unknown: 2 }[verdict];
}

function linesOf(each: InspectedServer, input: CheckInput): CheckLine[] {
  const { server, readings } = each;
  const { facts, nowMs } = input.inspection;
  const protector = protectorOf(each);
  if (!protector) {
    const found: Finding[] = [
      unknown('reachable', NO_ADDRESS),
      leaseFinding(server.leases[0], { nowMs: facts.serverTimeMs, needed: false, serverName: server.name }),
    ];
    return found.map((finding) => line(server.name, null, finding));
  }
  const protection = protectionOf(protector);
  const whole = { reading: protector, protection };
  const ordered = [protector, ...readings.filter((reading) => reading !== protector)];
  return ordered.flatMap((reading) => {
    const isProtector = reading === protector;
    const needed = isProtector && protection.active === true;
    const lease =
      reading.endpoint.lease ??
      (isProtector ? server.leases.find(({ kind }) => kind === reading.endpoint.kind) : undefined);
    const findings = [
      reachable(reading),
      ...(isProtector ? protectionFindings(reading, protection) : []),
      ...certificateFindings(reading, nowMs),
      clockFinding(reading, input.inspection),
      // A kube-apiserver behind a Straddle needs no lease, but a stale one misleads peers.
      ...(isProtector || lease
        ? [leaseFinding(lease, { nowMs: facts.serverTimeMs, needed, serverName: server.name })]
        : []),
      ...(isProtector && protection.active !== false ? frontProxyFindings(whole, input) : []),
      ...(isProtector ? [...peerFindings(each, whole, input), ...boundFindings(reading)] : []),
    ];
    return findings.map((finding) => line(server.name, reading.endpoint.address, finding));
  });
}

function line(server: string, address: string | null, { check, verdict, detail, mend }: Finding): CheckLine {
  return { server, address, check, verdict, detail, mend: mend ?? null };
}

function reachable(reading: EndpointReading): Finding {
  const check = 'reachable';
  const { unreachable, isRefused, ready, endpoint } = reading;
  if (unreachable !== undefined) {
    const mend = isRefused
      ? `Nobody listens at ${endpoint.address}: start the server; if it ended by itself, its log says why.`
      : `See that it runs and that ${endpoint.address} is open from here; if its certificate is refused, mend that first.`;
    return fail(check, unreachable, mend);
  }
  if (isServerDown(reading)) {
    return fail(
      check,
      'its Straddle answers, but the API server behind it is down: peers serve its requests',
      'Start that API server; its log says why it ended, and the log of the Straddle why it is not used.',
    );
  }
  if (ready && !ready.isReady) {
    const reasons = ready.failed.join(', ') || 'no reason given';
    return fail(check, `answers, but is not ready: ${reasons}`, 'Its log says why it is not ready.');
  }
  return ok(check, ready ? 'ready' : 'answers; it does not show its health to this user');
}

/** A warning only: servers that have replied at the address stay in use. */
function conflictFinding(conflict: LeaseConflict): Finding {
  return warn(
    'leases',
    conflictNote(conflict),
    'Delete the leases in kube-system that belong to no server; if it is the address of a load balancer, give each server an address of its own (--peer-advertise-ip).',
  );
}

/** Checks that every server is protected: clients of any other get wrong 404s. */
function everywhere(servers: readonly InspectedServer[]): Finding {
  const states = servers.map((each) => {
    const protector = protectorOf(each);
    const active = protector?.unreachable === undefined && protector ? protectionOf(protector).active : undefined;
    return { name: each.server.name, active };
  });
  const named = (active: boolean | undefined) =>
    states.filter((each) => each.active === active).map(({ name }) => name);
  const [on, off, open] = [named(true), named(false), named(undefined)];
  const check = 'everywhere';
  if (off.length > 0) {
    if (on.length === 0 && open.length === 0 && servers.every(lacksPeerCaOnly))
      return fail(check, NATIVE_IS_OFF, TURN_ON);
    const mend =
      on.length === 0
        ? 'Turn the protection on, on every server, as said above.'
        : `Clients of ${off.join(', ')} meet wrong 404s: turn it on there too.`;
    const detail = on.length === 0 ? 'no server is protected' : `on for ${on.join(', ')}, off for ${off.join(', ')}`;
    return fail(check, detail, mend);
  }
  if (open.length > 0) return unknown(check, `not known of ${open.join(', ')}`);
  return ok(check, `on for ${on.length === 1 ? 'the only server' : `all ${on.length} servers`}`);
}

const NATIVE_IS_OFF =
  "no server is protected: kube-apiserver's own proxy has its gate on, the default from 1.36, but is off without --peer-ca-file";
const TURN_ON =
  'Start every kube-apiserver with --peer-ca-file (kubeadm: peer-ca-file: /etc/kubernetes/pki/ca.crt in apiServer.extraArgs), or put a Straddle in front of each: straddle install --kubeadm.';

function lacksPeerCaOnly(each: InspectedServer): boolean {
  const protector = protectorOf(each);
  const protection = protector && protectionOf(protector);
  return protection?.kind === 'kube-apiserver' && protection.gateOn === true && protection.peerCaGiven === false;
}

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
import { columns, notesText } from './columns.js';
import type { EndpointReading } from './endpoint-reading.js';
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

function reachable({ unreachable, ready, endpoint }: EndpointReading): Finding {
  const check = 'reachable';
  if (unreachable !== undefined) {
    const mend = `See that it runs and that ${endpoint.address} is open from here; if its certificate is refused, mend that first.`;
    return fail(check, unreachable, mend);
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

export function checkText({ checks, verdict, notes }: CheckReport, wide: boolean): string {
  const several = new Set(checks.map(({ server, address }) => `${server} ${address}`)).size;
  const servers = new Set(checks.map(({ server }) => server)).size;
  const withAddress = wide || several > servers;
  const rows = checks.map((each) => [
    each.verdict,
    each.server,
    ...(withAddress ? [each.address ?? '-'] : []),
    each.check,
    each.detail,
  ]);
  const heads = ['', 'SERVER', ...(withAddress ? ['ADDRESS'] : []), 'CHECK', 'FOUND'];
  const table = columns([heads, ...rows]).split('\n');
  // The next step is printed below its line: it does not fit into a column.
  const body = table.slice(1, -1).map((row, index) => {
    const mend = checks[index]?.mend;
    return mend ? `${row}\n          → ${mend}\n` : `${row}\n`;
  });
  const count = (wanted: string) => checks.filter((each) => each.verdict === wanted).length;
  const doubt = verdict === 'unknown' ? ', so whether the protection is on is not known' : '';
  const summary = `${count('ok')} ok, ${count('warn')} warnings, ${count('FAIL')} failed, ${count('unknown')} unknown${doubt}.`;
  return `${table[0]}\n${body.join('')}\n${summary}\n${notesText(notes)}`;
}

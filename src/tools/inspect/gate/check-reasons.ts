import { someNames } from '../../../base/some-names.js';
import type { CheckReport } from '../check-report.js';
import type { CheckLine } from '../checks/check-line.js';
import type { EndpointReading } from '../endpoint-reading.js';
import type { Inspection } from '../inspection.js';
import { protectionOf } from '../protection.js';
import {
  askForRight,
  closed,
  type GateReason,
  METRICS_RIGHT,
  type ReasonId,
  unknown,
  withFlagOfGate,
} from './gate-reason.js';
import type { PeerPair } from './server-reasons.js';

const HEALTH_RIGHT = 'get the non-resource URLs /readyz and /metrics';

/**
 * Derives reasons from the lines of `straddle check`. Every failed line closes the gate, also one of a check that is not known
 * here, but for those that repeat another: `everywhere`, and what others say of a server that cannot be reached from here either.
 */
export function checkReasons(
  { checks }: Pick<CheckReport, 'checks'>,
  inspection: Inspection,
  /** Pairs that have a reason already. */
  covered: readonly PeerPair[],
): GateReason[] {
  const readings = new Map(
    inspection.servers.flatMap(({ readings: all }) => all.map((each) => [each.endpoint.address, each] as const)),
  );
  const silent = new Set(
    inspection.servers.filter(({ readings: all }) => !all.some(isReached)).map(({ server }) => server.name),
  );
  // Where leases may not be read, that a server has none says nothing; the missing right is a reason of its own.
  const judged = checks.filter(({ check }) => check !== 'lease' || canSeeLeases(inspection));
  return judged.flatMap((line): GateReason[] => {
    const reading = line.address === null ? undefined : readings.get(line.address);
    const other = /^peer (.+)$/.exec(line.check)?.[1];
    if (other !== undefined) {
      const isCovered = covered.some(({ server, peer }) => server === line.server && peer === other);
      // kube-apiserver counts no failures before the first one: where all serve the same, nothing shows, and nothing is missed.
      const isNothing = line.verdict === 'unknown' && reading?.metrics !== undefined;
      return isCovered || isNothing || silent.has(other) ? [] : reasonFor('peers', line);
    }
    return reasonOf(line, reading);
  });
}

function canSeeLeases({ facts: { leases, notes } }: Inspection): boolean {
  return leases.length > 0 || !notes.some((note) => note.includes('list leases.'));
}

function isReached({ unreachable }: EndpointReading): boolean {
  return unreachable === undefined;
}

function reasonOf(line: CheckLine, reading: EndpointReading | undefined): GateReason[] {
  const { check, verdict } = line;
  const isSilent = reading !== undefined && !isReached(reading);
  switch (check) {
    case 'reachable':
      return reasonFor(isSilent || verdict === 'unknown' ? 'unreachable' : 'not-ready', line);
    case 'protection':
      if (isSilent) return [];
      return reasonFor(
        reading && protectionOf(reading).passthrough ? 'passthrough' : 'unprotected',
        line,
        HEALTH_RIGHT,
      );
    case 'gate':
    case 'peer-ca':
      // The line about the protection of a kube-apiserver has the next step already.
      if (verdict !== 'FAIL' || !reading || protectionOf(reading).kind === 'kube-apiserver') return [];
      return reasonFor('unprotected', line);
    case 'everywhere':
      return [];
    case 'certificate':
    case 'certificate-chain':
    case 'certificate-names':
    case 'certificate-expiry':
    case 'front-proxy':
      return isSilent ? [] : reasonFor('certificates', line);
    case 'lease':
      return verdict === 'FAIL' ? reasonFor('rollout', line) : [];
    default:
      return verdict === 'FAIL' ? reasonFor('checks', line) : [];
  }
}

function reasonFor(id: ReasonId, line: CheckLine, right = METRICS_RIGHT): GateReason[] {
  const { server, address, check, verdict, detail, mend } = line;
  const who = server === '*' ? (address ?? 'the control plane') : server;
  const where = address === null || address === who ? who : `${who} (${address})`;
  const said = { detail: withFlagOfGate(`${where}: ${detail}`), servers: server === '*' ? [] : [server] };
  if (verdict === 'FAIL') {
    return [closed(id, { ...said, next: mend ?? `See the line ${check} of \`straddle check\`.` })];
  }
  if (verdict !== 'unknown') return [];
  const next =
    id === 'unreachable'
      ? 'Give its address with --address, or delete its lease if it is gone for good.'
      : askForRight(right);
  return [unknown(id, { ...said, next })];
}

/** Returns warnings, each once: they do not close the gate, but whoever opens it should see them. */
export function warningsOf({ checks }: Pick<CheckReport, 'checks'>): string[] {
  const named = new Map<string, string[]>();
  for (const { verdict, server, address, detail } of checks) {
    if (verdict !== 'warn') continue;
    const who = server === '*' ? (address ?? 'the control plane') : server;
    named.set(detail, [...(named.get(detail) ?? []), who]);
  }
  return [...named].map(([detail, who]) => `${someNames(who)}: ${detail}`);
}

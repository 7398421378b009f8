import { checkReport } from '../check-report.js';
import type { CheckInput } from '../checks/check-line.js';
import type { Inspection } from '../inspection.js';
import type { ListedServer } from '../servers.js';
import type { ListReading } from './bounded-list.js';
import { checkReasons, warningsOf } from './check-reasons.js';
import { askForRight, type GateReason, REASON_IDS, type ReasonId, unknown, withFlagOfGate } from './gate-reason.js';
import type { Rollback, UnknownRollback } from './rollback.js';
import { serverReasons } from './server-reasons.js';
import { migrationNotes, migrationReasons, storedVersionReasons } from './storage-reasons.js';
import { type StoredObjects, storedObjectReasons } from './stored-objects.js';
import { discoveryReasons, type SurfaceFacts, soleServerReasons, staleReasons } from './surface-reasons.js';

/** `straddle gate -o json`. */
export interface GateReport {
  readonly verdict: 'open' | 'closed' | 'unknown';
  readonly for: Direction;
  /** The server that is about to be replaced; null: any. */
  readonly server: string | null;
  /** Of a rollback: the minor version to go back to; null if it is not known. */
  readonly to: string | null;
  readonly reasons: readonly GateReason[];
  readonly notes: readonly string[];
}

export type Direction = 'upgrade' | 'rollback';

/** The question of the operator. */
export interface GateWanted {
  readonly for: Direction;
  /** Name or address, as it was given. */
  readonly server: string | undefined;
  readonly allow: ReadonlySet<ReasonId>;
}

/** Everything that was read, as input of the report. */
export interface GateFacts extends SurfaceFacts {
  readonly wanted: GateWanted;
  readonly frontProxy: CheckInput['frontProxy'];
  readonly migrations: ListReading;
  readonly storageVersions: ListReading;
  /** Only for a rollback. */
  readonly rollback:
    | { readonly plan: Rollback | UnknownRollback; readonly stored: readonly StoredObjects[] }
    | undefined;
}

/** Judges whether the next server may be replaced. Pure. */
export function gateReport(facts: GateFacts): GateReport {
  const { inspection, surfaces, wanted, frontProxy, migrations, storageVersions, rollback } = facts;
  const servers = inspection.servers.map(({ server }) => server);
  const server = wanted.server === undefined ? undefined : serverNamed(wanted.server, servers);
  const check = checkReport({
    inspection,
    surfaces: new Map(surfaces.map((each) => [each.name, each])),
    // Of most machines the ways of clients are not known, and the gate would never be open there.
    ways: [],
    frontProxy,
  });
  const { reasons: ofServers, covered } = serverReasons(inspection);
  const plan = rollback && 'leaving' in rollback.plan ? rollback.plan : undefined;
  const found = [
    ...findingReasons(inspection),
    ...(wanted.server !== undefined && server === undefined ? [notNamed(wanted.server, servers)] : []),
    ...checkReasons(check, inspection, covered),
    ...ofServers,
    ...discoveryReasons(facts),
    // With a name that nobody has, the question is not understood.
    ...(wanted.server === undefined || server
      ? soleServerReasons(facts, { server: server?.name, leaving: plan?.leaving ?? new Set() })
      : []),
    ...staleReasons(facts),
    ...migrationReasons(migrations),
    ...storedVersionReasons({ reading: storageVersions, servers, surfaces }),
    ...(rollback ? rollbackReasons(rollback) : []),
  ];
  const { verdict, reasons } = judged(found, wanted.allow);
  return {
    verdict,
    for: wanted.for,
    server: server?.name ?? null,
    to: plan?.to ?? null,
    reasons,
    notes: [...warningsOf(check), ...migrationNotes(migrations), ...(rollback ? rollbackNotes(storageVersions) : [])],
  };
}

/** The report where the servers could not even be found. */
export function failedReport(wanted: GateWanted, why: string): GateReport {
  const next = 'Mend the connection or the kubeconfig, and try again.';
  const reason = unknown('servers', { detail: why.replace(/\.$/, ''), next });
  return { verdict: 'unknown', for: wanted.for, server: null, to: null, reasons: [reason], notes: [] };
}

/** Returns 0 for open, 1 for closed, 2 if it could not be found out. */
export function exitCodeOf({ verdict }: Pick<GateReport, 'verdict'>): number {
  return { open: 0, closed: 1, unknown: 2 }[verdict];
}

function judged(found: readonly GateReason[], allow: ReadonlySet<ReasonId>): Pick<GateReport, 'verdict' | 'reasons'> {
  const reasons = found
    .map((each) => (each.verdict === 'closed' && allow.has(each.id) ? { ...each, verdict: 'allowed' as const } : each))
    .sort((a, b) => REASON_IDS.indexOf(a.id) - REASON_IDS.indexOf(b.id));
  const has = (verdict: GateReason['verdict']) => reasons.some((each) => each.verdict === verdict);
  return { verdict: has('closed') ? 'closed' : has('unknown') ? 'unknown' : 'open', reasons };
}

/** Reads that failed: there may be servers that nothing else tells of. */
function findingReasons({ facts }: Inspection): GateReason[] {
  return facts.notes.map((note) => {
    const [, right] = /^not allowed to (.+): what it says is missing below$/.exec(note) ?? [];
    return right === undefined
      ? unknown('servers', { detail: withFlagOfGate(note), next: 'Give the addresses of all servers with --address.' })
      : unknown('servers', {
          detail: `not allowed to ${right}, so there may be more servers`,
          next: askForRight(right),
        });
  });
}

function serverNamed(wanted: string, servers: readonly ListedServer[]): ListedServer | undefined {
  const name = wanted.toLowerCase();
  return (
    servers.find((each) => each.name === name) ??
    servers.find(
      ({ leases, endpoints }) =>
        leases.some(({ hostname }) => hostname === name) || endpoints.some(({ address }) => address === name),
    )
  );
}

function notNamed(wanted: string, servers: readonly ListedServer[]): GateReason {
  const names = servers.map(({ name }) => name).join(', ');
  const detail = `no server is called ${wanted}; the cluster tells of ${names}`;
  return unknown('servers', { detail, next: 'Give one of these names with --server.' });
}

function rollbackReasons({ plan, stored }: NonNullable<GateFacts['rollback']>): GateReason[] {
  if ('leaving' in plan) return storedObjectReasons(plan, stored);
  return [unknown('stored-objects', { detail: plan.why, next: plan.next })];
}

function rollbackNotes(storageVersions: ListReading): string[] {
  if (storageVersions.state !== 'absent') return [];
  return ['no server serves storageversions, so the versions in which built-in objects are stored were not compared'];
}

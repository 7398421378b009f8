import {
  lackingText,
  type MatrixRow,
  missingFrom,
  type NamedSurface,
  surfaceMatrix,
  unionOf,
} from '../../kube/surface-matrix.js';
import { heldResources } from './held-resources.js';
import type { StoredProblem } from './stored-versions.js';
import type { InspectedSurface, SilentServer } from './surfaces.js';

/** `straddle diff -o json`. */
export interface DiffReport {
  readonly servers: readonly { readonly name: string; readonly version: string }[];
  /** Number of resources and subresources that every server serves alike. */
  readonly common: number;
  /** Resources that not all servers serve alike; all resources with `--all`. */
  readonly resources: readonly ResourceDifference[];
  /** Changes from each version of the control plane to the next. */
  readonly changes: readonly VersionChange[];
  readonly clients: readonly ClientView[];
  readonly stored: readonly StoredProblem[];
  readonly notes: readonly string[];
}

export interface ResourceDifference {
  readonly name: string;
  /** Verbs by server; null where it is not served. */
  readonly servedBy: Readonly<Record<string, readonly string[] | null>>;
}

export interface VersionChange {
  readonly from: string;
  readonly to: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Resources that a client of this server alone would miss. */
export interface ClientView {
  readonly server: string;
  readonly missing: readonly string[];
  /** Those that merged discovery lacks too, so that no proxy serves them. Null: not known. */
  readonly uncovered: readonly string[] | null;
}

export interface DiffInput {
  readonly servers: readonly InspectedSurface[];
  readonly silent: readonly SilentServer[];
  readonly stored: readonly StoredProblem[];
  readonly notes: readonly string[];
  readonly all: boolean;
}

export function diffReport({ servers, silent, stored, notes, all }: DiffInput): DiffReport {
  const named = servers.map(({ name, local }) => ({ name, surface: local }));
  const rows = surfaceMatrix(named);
  const whole = unionOf(named.map(({ surface }) => surface));
  return {
    servers: servers.map(({ name, local }) => ({ name, version: local.kubernetesVersion })),
    common: rows.filter(({ alike }) => alike).length,
    resources: rows.filter(({ alike }) => all || !alike).map((row) => difference(row, named)),
    changes: versionChanges(named),
    clients: servers.map(({ name, local, merged }) => {
      const missing = missingFrom(whole, local);
      const uncovered = merged && new Set(missingFrom(whole, merged));
      return { server: name, missing, uncovered: uncovered ? missing.filter((each) => uncovered.has(each)) : null };
    }),
    stored,
    notes: [
      ...notes,
      ...silent.map(({ name, why }) => `what ${name} serves is not known (${why})`),
      ...heldNote(heldResources(servers), silent),
    ],
  };
}

/** Names in one note. */
const HELD_NAMES_MAX = 5;

function heldNote(held: readonly string[], silent: readonly SilentServer[]): string[] {
  if (held.length === 0) return [];
  const more = held.length - HELD_NAMES_MAX;
  const what = `${held.slice(0, HELD_NAMES_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const it = held.length === 1 ? 'it' : 'them';
  // A server that does not answer here may answer its peers.
  const when =
    silent.length > 0
      ? `while ${silent.map(({ name }) => name).join(' and ')} cannot be reached by the others either`
      : 'until the server that went away is back';
  return [`no server that could be asked serves ${what}: clients get 503 for ${it} ${when}`];
}

function difference({ name, servedBy }: MatrixRow, servers: readonly NamedSurface[]): ResourceDifference {
  return { name, servedBy: Object.fromEntries(servers.map((each) => [each.name, servedBy.get(each.name) ?? null])) };
}

function versionChanges(servers: readonly NamedSurface[]): VersionChange[] {
  const byVersion = new Map<string, NamedSurface[]>();
  for (const each of servers) {
    const version = each.surface.kubernetesVersion || 'unknown version';
    byVersion.set(version, [...(byVersion.get(version) ?? []), each]);
  }
  const versions = [...byVersion.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const whole = (version: string) => unionOf(byVersion.get(version)!.map(({ surface }) => surface));
  return versions.slice(1).map((to, index) => {
    const from = versions[index]!;
    return versionChange({ name: from, surface: whole(from) }, { name: to, surface: whole(to) });
  });
}

export function versionChange(from: NamedSurface, to: NamedSurface): VersionChange {
  const rows = surfaceMatrix([
    { ...from, name: 'from' },
    { ...to, name: 'to' },
  ]);
  const lacking = (of: 'from' | 'to', than: 'from' | 'to') =>
    rows.flatMap((row) => lackingText(row.name, row.servedBy.get(than), row.servedBy.get(of)) ?? []);
  return { from: from.name, to: to.name, added: lacking('from', 'to'), removed: lacking('to', 'from') };
}

import type { Surface } from '../../kube/surface.js';
import { type DifferingRow, type DifferingRows, differingRows } from '../../kube/surface-matrix.js';
import type { Skew, SkewCell, SkewRow } from './page-state.js';
import type { ServerFacts } from './server-facts.js';

export const SKEW_ROWS_MAX = 5_000;
/** Rows times servers: a state must stay small enough to be sent. */
export const SKEW_CELLS_MAX = 200_000;

/** A server as a column of the matrix. */
export interface SkewColumn {
  readonly name: string;
  /** Undefined: nothing is known of a protection. */
  readonly isProtected: boolean | undefined;
  /** It takes requests now. */
  readonly isLive: boolean;
  readonly surface: Surface;
}

/** Returns the columns: servers whose APIs were read. */
export function skewColumns(
  facts: readonly ServerFacts[],
  isProtected: (server: ServerFacts) => boolean | undefined,
): SkewColumn[] {
  return facts.flatMap((server) =>
    server.surface === undefined
      ? []
      : [
          {
            name: server.name,
            isProtected: isProtected(server),
            isLive: server.state === 'ready',
            surface: server.surface,
          },
        ],
  );
}

/**
 * Returns the rows of the matrix, which change with the surfaces only. A departed server has a surface of what only it served: it
 * would make every other resource a difference.
 */
export function* skewRows(facts: readonly ServerFacts[]): Generator<void, DifferingRows> {
  const surfaces = facts.flatMap(({ surface, state }) => (surface && state !== 'gone' ? [surface] : []));
  const { rows, alike } = yield* differingRows(surfaces);
  const gone = facts.flatMap(({ surface, state }) => (surface && state === 'gone' ? [surface] : []));
  if (gone.length === 0) return { rows, alike };
  const known = new Set(rows.map(({ name }) => name));
  const nothing: Pick<Surface, 'resources'> = { resources: new Map() };
  const remembered = yield* differingRows([...gone, nothing]);
  return { rows: [...rows, ...remembered.rows.filter(({ name }) => !known.has(name))], alike };
}

/** Returns the matrix of what not every server serves alike. */
export function skewState(
  { rows, alike }: DifferingRows,
  columns: readonly SkewColumn[],
  usedAtMs: ReadonlyMap<string, number>,
): Skew {
  const rowsMax = Math.min(SKEW_ROWS_MAX, Math.floor(SKEW_CELLS_MAX / Math.max(1, columns.length)));
  const shown = rows.slice(0, rowsMax).map(
    (row): SkewRow => ({
      name: row.name,
      cells: cellsOf(row, columns),
      usedAtMs: usedAtMs.get(row.name) ?? null,
    }),
  );
  return { servers: columns.map(({ name }) => name), rows: shown, alike, left: rows.length - shown.length };
}

function cellsOf(row: DifferingRow, columns: readonly SkewColumn[]): SkewCell[] {
  const served = columns.map(({ surface }) => has(surface, row));
  const isLiveSomewhere = served.some((each, index) => each && columns[index]!.isLive);
  return columns.map(({ isLive, isProtected }, index): SkewCell => {
    if (served[index]) return isLive ? 'served' : 'stale';
    if (!isLive || isProtected !== true) return 'absent';
    return isLiveSomewhere ? 'rerouted' : 'held';
  });
}

function has({ resources }: Surface, { group, version, resource, subresource }: DifferingRow): boolean {
  const found = resources.get(`${group}/${version}/${resource}`);
  if (!found) return false;
  return subresource === '' ? found.verbs.size > 0 : found.subresources.has(subresource);
}

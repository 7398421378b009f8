import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../kube/json.js';
import { builtInPrinter } from './built-in-printers.js';
import { toTable } from './table.js';

interface RecordedTable {
  readonly group: string;
  readonly resource: string;
  readonly now: string;
  readonly list: JsonObject;
  readonly columns: readonly JsonObject[];
  readonly rows: readonly JsonObject[];
}

const FOLDER = new URL('./', import.meta.url);
const BASE_MINOR = 36;

/** The tables of 1.36, and those of other versions that have other columns, by minor version. */
const recorded = readdirSync(FOLDER).flatMap((name): [number, RecordedTable[]][] => {
  const [isRecord, minor] = /^tables(?:-1\.(\d+))?\.recorded\.json$/.exec(name) ?? [];
  if (isRecord === undefined) return [];
  const tables = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as RecordedTable[];
  return [[minor === undefined ? BASE_MINOR : Number(minor), tables]];
});

/** The recording knows its time to the second; an age of seconds may differ by one. */
function comparable(row: JsonObject): Json {
  const cells = (row['cells'] as Json[]).map((cell) =>
    typeof cell === 'string' ? cell.replace(/^\d{1,2}s$/, 'seconds') : cell,
  );
  const conditions = (row['conditions'] as JsonObject[] | undefined)?.map(({ message: _, ...condition }) => condition);
  return { cells, ...(conditions === undefined ? {} : { conditions: conditions as Json }) };
}

describe.each(recorded)('the table is that recorded from a real kube-apiserver 1.%i:', (minor, tables) => {
  for (const { group, resource, now, list, columns, rows } of tables) {
    it(`${resource}${group === '' ? '' : `.${group}`}`, () => {
      const options = { includeObject: 'None' as const, nowMs: Date.parse(now) };
      const table = toTable(list, builtInPrinter(group, resource, minor), options);
      const definitions = (table['columnDefinitions'] as JsonObject[]).map(({ description: _, ...column }) => column);
      expect(definitions).toEqual(columns);
      expect((table['rows'] as JsonObject[]).map(comparable)).toEqual(rows.map(comparable));
    });
  }
});

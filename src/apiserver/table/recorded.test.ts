import { readFileSync } from 'node:fs';
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

const recorded = JSON.parse(readFileSync(new URL('tables.recorded.json', import.meta.url), 'utf8')) as RecordedTable[];

/** The recording knows its time to the second; an age of seconds may differ by one. */
function comparable(row: JsonObject): Json {
  const cells = (row['cells'] as Json[]).map((cell) =>
    typeof cell === 'string' ? cell.replace(/^\d{1,2}s$/, 'seconds') : cell,
  );
  const conditions = (row['conditions'] as JsonObject[] | undefined)?.map(({ message: _, ...condition }) => condition);
  return { cells, ...(conditions === undefined ? {} : { conditions: conditions as Json }) };
}

describe('the table is that recorded from a real kube-apiserver:', () => {
  for (const { group, resource, now, list, columns, rows } of recorded) {
    it(`${resource}${group === '' ? '' : `.${group}`}`, () => {
      const options = { includeObject: 'None' as const, nowMs: Date.parse(now) };
      const table = toTable(list, builtInPrinter(group, resource), options);
      const definitions = (table['columnDefinitions'] as JsonObject[]).map(({ description: _, ...column }) => column);
      expect(definitions).toEqual(columns);
      expect((table['rows'] as JsonObject[]).map(comparable)).toEqual(rows.map(comparable));
    });
  }
});

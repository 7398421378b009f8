import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { at, columns, textAt } from './cells.js';
import { ageOf } from './human-duration.js';
import { evaluateJsonPath, JsonPathError, parseJsonPath } from './json-path.js';
import type { TablePrinter } from './table.js';

/** `additionalPrinterColumns` of a custom resource. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The name, then the declared columns, or the age when none is declared. Throws JsonPathError. */
export function customPrinter(declared: readonly PrinterColumn[] = []): TablePrinter {
  const all = (declared.length === 0 ? [AGE] : declared).map((column) => ({
    ...column,
    path: parseJsonPath(column.jsonPath),
  }));
  return {
    columns: [
      ...columns('Name:name'),
      ...all.map(({ name, type, format = '', priority = 0 }) => ({ name, type, format, priority })),
    ],
    row: (object, nowMs) => ({
      cells: [
        textAt(object, 'metadata', 'name'),
        ...all.map(({ path, type }) => customCell(evaluateJsonPath(object, path)[0], type, nowMs)),
      ],
    }),
  };
}

export { JsonPathError };

/** The printer of kinds for which kube-apiserver has no columns. */
export const PLAIN_PRINTER: TablePrinter = {
  columns: columns('Name:name Created_At:date'),
  row: (object: JsonObject) => ({
    cells: [textAt(object, 'metadata', 'name'), at(object, 'metadata', 'creationTimestamp') ?? null],
  }),
};

/** The cell of a custom column; null for a value of another type than the column's. */
function customCell(value: Json | undefined, type: string, nowMs: number): Json {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageOf(value, nowMs);
    case 'string':
      return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
    default:
      return null;
  }
}

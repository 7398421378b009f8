import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';

/** A column of a Table. Descriptions are left empty: no client prints them. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** 0 is always shown, more only in a wide listing. */
  readonly priority: number;
}

interface TableRow {
  readonly cells: readonly Json[];
  readonly conditions?: readonly JsonObject[];
}

/** Turns objects of one kind into rows of a Table. */
export interface TablePrinter {
  readonly columns: readonly Column[];
  row(object: JsonObject, nowMs: number): TableRow;
  /** The order of the rows, where it is not that of the list. */
  compare?(left: JsonObject, right: JsonObject): number;
}

interface TableOptions {
  /** The form of the object in each row, from the `includeObject` parameter of the request. */
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  readonly nowMs: number;
}

/** `meta.k8s.io/v1` Table of one object or of a list. */
export function toTable(source: JsonObject, printer: TablePrinter, options: TableOptions): JsonObject {
  const items = member(source, 'items');
  const objects = Array.isArray(items) ? items.filter(isObject) : [source];
  if (printer.compare !== undefined) objects.sort(printer.compare);
  return { ...tableHead(source, printer), rows: objects.map((object) => tableRow(object, printer, options)) };
}

/** A table without its rows. */
export function tableHead(source: JsonObject, printer: TablePrinter): JsonObject {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: listMetadata(source),
    columnDefinitions: printer.columns.map((column) => ({ ...column, description: '' })),
  };
}

/** One row of a table, also for events of a watch. */
export function tableRow(
  object: JsonObject,
  printer: TablePrinter,
  { includeObject, nowMs }: TableOptions,
): JsonObject {
  const { cells, conditions } = printer.row(object, nowMs);
  return {
    cells: [...cells],
    ...(conditions === undefined ? {} : { conditions: [...conditions] }),
    object: includedObject(object, includeObject),
  };
}

function includedObject(object: JsonObject, include: TableOptions['includeObject']): Json {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] ?? {} };
}

function listMetadata(source: JsonObject): JsonObject {
  const metadata = isObject(source['metadata']) ? source['metadata'] : {};
  const kept: JsonObject = {};
  for (const name of ['resourceVersion', 'continue', 'remainingItemCount']) {
    const value = member(metadata, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

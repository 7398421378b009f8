import { describe, expect, it } from 'vitest';
import { builtInPrinter } from './built-in-printers.js';
import { customPrinter } from './custom-printer.js';
import { humanDuration } from './human-duration.js';
import { evaluateJsonPath, JsonPathError, parseJsonPath } from './json-path.js';
import { tableRow, toTable } from './table.js';

const NOW_MS = Date.parse('2026-01-02T00:00:00Z');
const WIDGET = {
  kind: 'Widget',
  metadata: {
    name: 'w',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: { 'a.b/c': 'v' },
  },
  spec: { size: 3, ratio: 1.5, on: true, tags: ['x', 'y'], parts: { a: 1 } },
  status: {
    conditions: [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True', count: 4 },
    ],
  },
};

describe('parseJsonPath', () => {
  it.each([
    ['.spec.size', [3]],
    ['spec.size', [3]],
    ['.spec.tags[0]', ['x']],
    ['.spec.tags[-1]', ['y']],
    ['.spec.tags[*]', ['x', 'y']],
    ['.spec.parts.*', [1]],
    ['.metadata.annotations.a\\.b/c', ['v']],
    ["['metadata']['annotations']['a.b/c']", ['v']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Ready')].status", ['True']],
    ['.status.conditions[?(@.type!="Ready")].status', ['False']],
    ['.status.conditions[?(@.count)].type', ['Ready']],
    ['.status.conditions[?(@.count>3)].type', ['Ready']],
    ['.status.conditions[?(@.count > 4)].type', []],
    ['.nope.deeper', []],
    ['.spec.size.deeper', []],
    ['.constructor', []],
  ])('finds with %s the values %j', (path, expected) => {
    expect(evaluateJsonPath(WIDGET, parseJsonPath(path))).toEqual(expected);
  });

  it.each(['.a[', '.a]', '.a[?(@)]', '..', '.a[?(@.b=~"x")]', '.'])('throws JsonPathError for %s', (path) => {
    expect(() => parseJsonPath(path)).toThrow(JsonPathError);
  });

  it('throws for hostile paths in less than 500 ms', () => {
    const startedMs = performance.now();
    expect(() => parseJsonPath(`.a[?(@${'.b'.repeat(1500)}`)).toThrow(JsonPathError);
    expect(() => parseJsonPath('.a'.repeat(10_000))).toThrow(JsonPathError);
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});

describe('customPrinter', () => {
  it('prints the declared columns by their types', () => {
    const printer = customPrinter([
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio' },
      { name: 'Whole', type: 'integer', jsonPath: '.spec.ratio' },
      { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
      { name: 'Tags', type: 'string', jsonPath: '.spec.tags' },
      { name: 'Odd', type: 'integer', jsonPath: '.spec.on' },
      { name: 'Gone', type: 'string', jsonPath: '.spec.gone' },
      { name: 'Bad', type: 'date', jsonPath: '.metadata.name' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ]);
    expect(printer.row(WIDGET, NOW_MS).cells).toEqual([
      'w',
      3,
      1.5,
      1,
      true,
      'True',
      '["x","y"]',
      null,
      null,
      '<invalid>',
      '24h',
    ]);
    expect(printer.columns[5]).toEqual({ name: 'Ready', type: 'string', format: '', priority: 1 });
  });

  it('prints name and age if no columns are declared', () => {
    expect(customPrinter().columns.map(({ name, type }) => `${name}:${type}`)).toEqual(['Name:string', 'Age:date']);
    expect(customPrinter().row(WIDGET, NOW_MS).cells).toEqual(['w', '24h']);
  });
});

describe('toTable', () => {
  const printer = customPrinter();

  it('has the metadata of the list, and of its objects with includeObject=Metadata', () => {
    const list = {
      kind: 'WidgetList',
      metadata: { resourceVersion: '9', continue: 'c', remainingItemCount: 2 },
      items: [WIDGET],
    };
    const table = toTable(list, printer, { includeObject: 'Metadata', nowMs: NOW_MS });
    expect(table).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9', continue: 'c', remainingItemCount: 2 },
      rows: [
        {
          cells: ['w', '24h'],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: WIDGET.metadata },
        },
      ],
    });
  });

  it('makes a table from one object', () => {
    const table = toTable(WIDGET, printer, { includeObject: 'Object', nowMs: NOW_MS });
    expect(table['metadata']).toEqual({ resourceVersion: '7' });
    expect(table['rows']).toEqual([{ cells: ['w', '24h'], object: WIDGET }]);
  });

  it('omits the object with includeObject=None', () => {
    expect(tableRow(WIDGET, printer, { includeObject: 'None', nowMs: NOW_MS })['object']).toBeNull();
  });

  it('prints name and creation time of kinds without special columns', () => {
    expect(builtInPrinter('example.com', 'toString', 36).row(WIDGET, NOW_MS).cells).toEqual([
      'w',
      '2026-01-01T00:00:00Z',
    ]);
  });

  it('does not throw for objects that do not fit their kind', () => {
    for (const resource of ['pods', 'services', 'nodes', 'events', 'secrets']) {
      const { row } = builtInPrinter('', resource, 36);
      expect(() => row({ metadata: null, spec: 1, status: [] }, NOW_MS)).not.toThrow();
    }
    const { row } = builtInPrinter('apiextensions.k8s.io', 'customresourcedefinitions', 37);
    expect(row({ metadata: null, spec: { versions: [null, 1, {}], names: [] }, status: 1 }, NOW_MS).cells).toHaveLength(
      8,
    );
  });
});

describe('humanDuration', () => {
  const minute = 60;
  const hour = 60 * minute;
  const day = 24 * hour;
  it.each([
    [-5, '<invalid>'],
    [-1, '0s'],
    [0, '0s'],
    [119, '119s'],
    [2 * minute, '2m'],
    [2 * minute + 5, '2m5s'],
    [10 * minute + 5, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [3 * hour + 5 * minute, '3h5m'],
    [8 * hour + 5 * minute, '8h'],
    [47 * hour, '47h'],
    [48 * hour, '2d'],
    [50 * hour, '2d2h'],
    [8 * day, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [731 * day, '2y1d'],
    [3000 * day, '8y'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(humanDuration(seconds * 1000)).toBe(text);
  });
});

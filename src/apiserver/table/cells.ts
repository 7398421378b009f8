import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { formatLabelSelector, labelSelectorFromObject, SelectorError } from '../select/label-selector.js';
import { ageOf } from './human-duration.js';
import type { Column, TablePrinter } from './table.js';

/** Printers by group and resource, such as `apps/deployments` or `/pods`. */
export type PrinterTable = Readonly<Record<string, TablePrinter>>;

/**
 * The printer of a built-in kind. The columns `Name` and `Age` get their cells here; `others` returns
 * the cells of all other columns in order.
 */
export function printer(
  text: string,
  others: (object: JsonObject, nowMs: number) => readonly Json[],
  nameCell: (object: JsonObject) => string = nameOf,
): TablePrinter {
  const all = columns(text);
  return {
    columns: all,
    row: (object, nowMs) => {
      const cells = others(object, nowMs).values();
      const cellOf = ({ name }: Column): Json => {
        if (name === 'Name') return nameCell(object);
        return name === 'Age' ? ageOf(at(object, 'metadata', 'creationTimestamp'), nowMs) : cells.next().value!;
      };
      return { cells: all.map(cellOf) };
    },
  };
}

/** `Name:name Ready Containers*`: a column a word, `_` for a blank, `:type` or `:name`, `*` for wide listings. */
export function columns(text: string): Column[] {
  return text.split(' ').map((word) => {
    const [, name = '', type = 'string', wide] = /^([^:*]+)(?::(\w+))?(\*)?$/.exec(word)!;
    const isName = type === 'name';
    return {
      name: name.replaceAll('_', ' '),
      type: isName ? 'string' : type,
      format: isName ? 'name' : '',
      priority: wide === undefined ? 0 : 1,
    };
  });
}

/** The value at a path of members; undefined where one is missing. */
export function at(object: Json | undefined, ...path: readonly string[]): Json | undefined {
  let value = object;
  for (const name of path) value = isObject(value) ? member(value, name) : undefined;
  return value;
}

export function textAt(object: Json | undefined, ...path: readonly string[]): string {
  const value = at(object, ...path);
  return typeof value === 'string' ? value : '';
}

export function numberAt(object: Json | undefined, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
}

export function objectsAt(object: Json | undefined, ...path: readonly string[]): JsonObject[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function sizeAt(object: Json | undefined, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return isObject(value) ? Object.keys(value).length : 0;
}

export function textsAt(object: Json | undefined, ...path: readonly string[]): string[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.map(String) : [];
}

export function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name');
}

/** The name, marked where an annotation makes the object the default of its kind. */
export function nameAndDefault(...annotations: readonly string[]): (object: JsonObject) => string {
  return (object) => {
    const isDefault = annotations.some((key) => textAt(object, 'metadata', 'annotations', key) === 'true');
    return `${nameOf(object)}${isDefault ? ' (default)' : ''}`;
  };
}

/** `namespace/name` or `kind/name`. */
export function joined(object: Json | undefined, first: string): string {
  return `${textAt(object, first)}/${textAt(object, 'name')}`;
}

export function findCondition(object: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(object, 'status', 'conditions').find((each) => each['type'] === type);
}

/** The addresses that a load balancer has given to a Service or an Ingress. */
export function balancerAddresses(object: JsonObject): string[] {
  const ingress = objectsAt(object, 'status', 'loadBalancer', 'ingress');
  const addresses = ingress.map((each) => textAt(each, 'ip') || textAt(each, 'hostname'));
  return [...new Set(addresses.filter((each) => each !== ''))].sort();
}

export function orNone(text: string): string {
  return text === '' ? '<none>' : text;
}

export function hasCondition(object: JsonObject, type: string): boolean {
  return findCondition(object, type)?.['status'] === 'True';
}

/** The names and the images of containers, each in one cell. */
export function containerCells(podSpec: Json | undefined): [names: string, images: string] {
  const containers = objectsAt(podSpec, 'containers');
  return [
    containers.map((each) => textAt(each, 'name')).join(','),
    containers.map((each) => textAt(each, 'image')).join(','),
  ];
}

export function selectorCell(selector: Json | undefined): string {
  if (!isObject(selector)) return '<none>';
  try {
    return orNone(formatLabelSelector(labelSelectorFromObject(selector)));
  } catch (error) {
    if (error instanceof SelectorError) return '<error>';
    throw error;
  }
}

/** `a=1,b=2`, of a plain map. */
export function labelsCell(labels: Json | undefined): string {
  if (!isObject(labels)) return '<none>';
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);
  return orNone(pairs.join(','));
}

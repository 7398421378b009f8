import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { formatLabelSelector, labelSelectorFromObject, SelectorError } from '../select/label-selector.js';
import type { Column } from './table.js';

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

export function orNone(text: string): string {
  return text === '' ? '<none>' : text;
}

export function hasCondition(object: JsonObject, type: string): boolean {
  return objectsAt(object, 'status', 'conditions').find((each) => each['type'] === type)?.['status'] === 'True';
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

import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { memberSchema, type Schema } from '../schema/schema.js';

export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** Returns the element of an item of a set or map list: its value, or its keys with their defaults. Throws ItemError. */
export function itemElement(list: Schema, item: Json): string {
  if (list.listType !== 'map') {
    if (isObject(item)) throw new ItemError("associative list without keys has an element that's a map type");
    if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
    if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
    return `v:${JSON.stringify(item)}`;
  }
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new ItemError('associative list with keys may not have non-map elements');
  const names = list.listKeys ?? [];
  const keys: JsonObject = {};
  for (const name of [...names].sort()) {
    const value = member(item, name) ?? memberSchema(list.items ?? {}, name)?.default;
    if (value !== undefined) keys[name] = value;
  }
  if (names.length > 0 && Object.keys(keys).length === 0) {
    const quoted = names.map((name) => JSON.stringify(name)).join(' ');
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${quoted}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(keys)}`;
}

export class ItemError extends Error {}

/** Orders fields before keyed items, values and indices, each by its text. */
export function comparePathElements(left: string, right: string): number {
  const isSameKind = left.charCodeAt(0) === right.charCodeAt(0);
  if (!isSameKind) return ORDER.indexOf(left[0]!) - ORDER.indexOf(right[0]!);
  return left < right ? -1 : left > right ? 1 : 0;
}

const ORDER = 'fkvi';

/** Returns a path as messages show it: `.spec.containers[name="web"].image`. */
export function formatPath(path: readonly string[]): string {
  return path.map(formatElement).join('');
}

function formatElement(element: string): string {
  const text = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${text}`;
    case 'k': {
      const keys = Object.entries(JSON.parse(text) as JsonObject);
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${text}]`;
    default:
      return `[${text}]`;
  }
}

import { child, objects, texts } from '../../kube/fields.js';
import { type Json, type JsonObject, member, setMember } from '../../kube/json.js';

export { child, number, objects, text, texts } from '../../kube/fields.js';

/**
 * Members of objects whose schema has been checked. A missing object has no members; a member of
 * another type counts as missing.
 */
function get(object: JsonObject | undefined, key: string): Json | undefined {
  return object === undefined ? undefined : member(object, key);
}

export function flag(object: JsonObject | undefined, key: string): boolean {
  return get(object, key) === true;
}

/** The objects of a list, each with its path in problems: `spec.ports[0]`. */
export function* eachObject(
  object: JsonObject | undefined,
  field: string,
  key: string,
): Generator<[path: string, each: JsonObject]> {
  for (const [index, each] of objects(object, key).entries()) yield [`${pathOf(field, key)}[${index}]`, each];
}

/** The texts of a list, each with its path in problems. */
export function* eachText(
  object: JsonObject | undefined,
  field: string,
  key: string,
): Generator<[path: string, each: string]> {
  for (const [index, each] of texts(object, key).entries()) yield [`${pathOf(field, key)}[${index}]`, each];
}

/** The path of a member in problems; the object itself has the path ''. */
export function pathOf(field: string, key: string): string {
  return field === '' ? key : `${field}.${key}`;
}

export function specOf(object: JsonObject | undefined): JsonObject {
  return child(object, 'spec') ?? {};
}

/** The spec of the pods that a workload with this spec creates. */
export function podSpecOf(spec: JsonObject): JsonObject {
  return specOf(child(spec, 'template'));
}

/** A map of texts; empty where there is none. */
export function textMap(object: JsonObject | undefined, key: string): Readonly<Record<string, string>> {
  return (child(object, key) ?? {}) as Record<string, string>;
}

export function has(object: JsonObject | undefined, key: string): boolean {
  const value = get(object, key);
  return value !== undefined && value !== null;
}

/** Sets the members that are missing. */
export function fill(object: JsonObject, values: JsonObject): void {
  for (const key of Object.keys(values)) {
    if (!has(object, key)) setMember(object, key, values[key]!);
  }
}

/** The member; a missing one is set to an empty object. */
export function childOrNew(object: JsonObject, key: string): JsonObject {
  const existing = child(object, key);
  if (existing !== undefined) return existing;
  const made: JsonObject = {};
  setMember(object, key, made);
  return made;
}

export function remove(object: JsonObject, ...keys: readonly string[]): void {
  for (const key of keys) delete object[key];
}

/** Copies the members from another object; those that it lacks are deleted. */
export function restore(object: JsonObject, from: JsonObject, ...keys: readonly string[]): void {
  for (const key of keys) {
    const value = member(from, key);
    if (value === undefined) delete object[key];
    else setMember(object, key, structuredClone(value) as Json);
  }
}

import { child } from '../../kube/fields.js';
import { type Json, type JsonObject, member, setMember } from '../../kube/json.js';

export { child, number, objects, text, texts } from '../../kube/fields.js';

/** Reading and writing members of objects whose schema has been checked, with nothing standing for what is missing. */

export function flag(object: JsonObject | undefined, key: string): boolean {
  return object !== undefined && member(object, key) === true;
}

/** A map of texts; empty where there is none. */
export function textMap(object: JsonObject | undefined, key: string): Readonly<Record<string, string>> {
  return (child(object, key) ?? {}) as Record<string, string>;
}

export function has(object: JsonObject | undefined, key: string): boolean {
  const value = object === undefined ? undefined : member(object, key);
  return value !== undefined && value !== null;
}

/** Sets what is missing. */
export function fill(object: JsonObject, values: JsonObject): void {
  for (const key of Object.keys(values)) {
    if (!has(object, key)) setMember(object, key, values[key]!);
  }
}

/** The member, made when it is missing. */
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

/** The same members as another object has, none where it has none. */
export function restore(object: JsonObject, from: JsonObject, ...keys: readonly string[]): void {
  for (const key of keys) {
    const value = member(from, key);
    if (value === undefined) delete object[key];
    else setMember(object, key, structuredClone(value) as Json);
  }
}

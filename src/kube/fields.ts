import { isObject, type Json, type JsonObject, member } from './json.js';

/** Members of unchecked JSON objects by type. A member of another type counts as absent. */

function memberOf(object: Json | undefined, key: string): Json | undefined {
  return isObject(object) ? member(object, key) : undefined;
}

export function child(object: Json | undefined, key: string): JsonObject | undefined {
  const value = memberOf(object, key);
  return isObject(value) ? value : undefined;
}

/** Returns a string; empty if absent. */
export function text(object: Json | undefined, key: string): string {
  const value = memberOf(object, key);
  return typeof value === 'string' ? value : '';
}

export function number(object: Json | undefined, key: string): number | undefined {
  const value = memberOf(object, key);
  return typeof value === 'number' ? value : undefined;
}

/** Returns the strings of a list; items of other types are skipped. */
export function texts(object: Json | undefined, key: string): string[] {
  const value = memberOf(object, key);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Returns the objects of a list; items of other types are skipped. */
export function objects(object: Json | undefined, key: string): JsonObject[] {
  const value = memberOf(object, key);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

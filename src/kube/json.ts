/** What JSON.parse returns. Objects of the API are handled as plain JSON everywhere; no class stands for a kind. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** Deeper documents are refused before anything recursive looks at them, so that no input can exhaust the stack. */
export const JSON_LEVELS_MAX = 1_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member, never something inherited: `constructor` and `__proto__` are names like any other in a document. */
export function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Plain assignment would change the prototype when a document names a member `__proto__`. */
export function setMember(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

export function cloneJson<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => cloneJson(item)) as T;
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setMember(copy, key, cloneJson(value[key]!));
  return copy as T;
}

/** Equality of documents: the order of members does not count, the order of items does. */
export function jsonEqual(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => jsonEqual(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && jsonEqual(left[key], right[key]));
}

export function isDeeperThan(value: Json, levelsMax: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levelsMax) return true;
    const next: Json[] = [];
    for (const item of level) {
      if (Array.isArray(item)) for (const each of item) next.push(each);
      else if (isObject(item)) for (const key of Object.keys(item)) next.push(item[key]!);
    }
    level = next;
  }
  return false;
}

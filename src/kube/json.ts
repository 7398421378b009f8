/** Result of JSON.parse. API objects are plain JSON everywhere; there are no classes for kinds. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** Bound on nesting, checked before any recursive function, so that no input can exhaust the stack. */
export const JSON_LEVELS_MAX = 1_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the object that a JSON text holds; an empty one if it is not JSON or not an object. */
export function parsedObject(text: string): JsonObject {
  try {
    return objectOrEmpty(JSON.parse(text));
  } catch {
    return {};
  }
}

export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns a member that is an object; an empty one if it is absent or not an object. */
export function objectMember(object: JsonObject, key: string): JsonObject {
  return objectOrEmpty(member(object, key));
}

/** Returns a member, never an inherited one: `constructor` is an ordinary name in a document. */
export function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a member. Plain assignment of `__proto__` would change the prototype. */
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

/** Returns whether documents are equal; the order of items counts, that of members does not. */
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

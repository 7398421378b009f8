import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { text } from '../authorization/policy-rule.js';
import type { User } from '../contracts/user.js';

/** The members of `object` in this order, without those that are missing or empty: the form they are answered in. */
export function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const key of keys) {
    const value = member(object, key);
    if (value !== undefined && !isEmpty(value)) picked[key] = value;
  }
  return picked;
}

export function part(object: Json | undefined, key: string): JsonObject | undefined {
  const value = isObject(object) ? member(object, key) : undefined;
  return isObject(value) ? value : undefined;
}

export function texts(object: Json | undefined, key: string): string[] {
  const value = isObject(object) ? member(object, key) : undefined;
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

export function objects(object: Json | undefined, key: string): JsonObject[] {
  const value = isObject(object) ? member(object, key) : undefined;
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** `apiVersion` and `kind` as they came. */
export function typeOf(object: JsonObject): JsonObject {
  return { kind: text(object, 'kind'), apiVersion: text(object, 'apiVersion') };
}

/** `authentication.k8s.io`'s UserInfo. */
export function userInfo({ name, uid, groups, extra }: User): JsonObject {
  const info: JsonObject = { username: name };
  if (uid !== '') info.uid = uid;
  if (groups.length > 0) info.groups = [...groups];
  if (extra.size > 0) {
    info.extra = Object.fromEntries([...extra].sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, [...v]]));
  }
  return info;
}

function isEmpty(value: Json): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

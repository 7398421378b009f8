import { text } from '../../kube/fields.js';
import { type Json, type JsonObject, member } from '../../kube/json.js';
import type { User } from '../contracts/user.js';

/** Returns the members `keys` in this order, without empty ones: the form of an answer. */
export function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const key of keys) {
    const value = member(object, key);
    if (value !== undefined && !isEmpty(value)) picked[key] = value;
  }
  return picked;
}

/** Returns `kind` and `apiVersion` as sent. */
export function typeOf(object: JsonObject): JsonObject {
  return { kind: text(object, 'kind'), apiVersion: text(object, 'apiVersion') };
}

/** Makes a UserInfo of `authentication.k8s.io`. */
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

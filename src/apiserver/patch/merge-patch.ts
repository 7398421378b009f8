import { cloneJson, isObject, type Json, type JsonObject, member, setMember } from '../../kube/json.js';
import { goJsonKind } from '../values/go-text.js';
import { PatchError } from './json-patch-error.js';

/** RFC 7386 on an object of the API. Neither argument is changed. */
export function applyMergePatch(document: JsonObject, patch: Json): JsonObject {
  if (patch === null) throw new PatchError('BadRequest', 'Invalid JSON Patch');
  if (!isObject(patch)) {
    throw new PatchError(
      'BadRequest',
      `error decoding patch: json: cannot unmarshal ${goJsonKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  const merged = cloneJson(document);
  mergeInto(merged, patch);
  return merged;
}

function mergeInto(target: JsonObject, patch: JsonObject): void {
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    const current = member(target, key);
    if (value === null) delete target[key];
    else if (isObject(current) && isObject(value)) mergeInto(current, value);
    // kube-apiserver drops the nulls inside a list as well, except where the list replaces an object.
    else setMember(target, key, isObject(current) ? cloneJson(value) : withoutNulls(value));
  }
}

/** A copy of a value without members that are null. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item));
  if (!isObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== null) setMember(kept, key, withoutNulls(value[key]!));
  }
  return kept;
}

import { cloneJson, isObject, type Json, type JsonObject, member, setMember } from '../../kube/json.js';
import { goJsonKind } from '../values/go-text.js';
import { PatchError } from './json-patch-error.js';
import { withoutNulls } from './merge-patch.js';
import { deleteFromPrimitives, mergeLists, orderBySetElementOrder } from './strategic-merge-patch-lists.js';
import {
  PATCH_DIRECTIVE,
  type PatchField,
  type PatchSchema,
  unknownDirective,
} from './strategic-merge-patch-schema.js';

export type { PatchField, PatchSchema } from './strategic-merge-patch-schema.js';

const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList';
const SET_ELEMENT_ORDER = '$setElementOrder';
const UNKNOWN_FIELD: PatchField = { strategies: [] };

/**
 * Applies a patch to a copy of the document, yielding between passes over the whole object. A type
 * without a schema (a custom resource) has no strategic merge patch.
 */
export function* strategicMergeSteps(
  document: JsonObject,
  patch: Json,
  schema: PatchSchema | undefined,
): Generator<void, JsonObject> {
  if (schema === undefined) throw badRequest('strategic merge patch format is not supported');
  if (patch === null) return cloneJson(document);
  if (!isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${goJsonKind(patch)} into Go value of type map[string]interface {}`);
  }
  const original = cloneJson(document);
  yield;
  const changes = cloneJson(patch);
  yield;
  return mergeObjects(original, changes, schema);
}

/** May change and return either argument. */
function mergeObjects(original: JsonObject, patch: JsonObject, schema: PatchSchema | undefined): JsonObject {
  const directive = member(patch, PATCH_DIRECTIVE);
  if (directive !== undefined) return replacedObject(directive, patch);
  retainKeys(original, patch);
  mergeOrderedLists(original, patch, schema);
  for (const key of Object.keys(patch)) mergeMember(original, key, patch[key]!, schema);
  return original;
}

function replacedObject(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw unknownDirective(directive, patch);
  delete patch[PATCH_DIRECTIVE];
  return patch;
}

/** `$retainKeys` deletes the members that it does not name; the patch may contain only members that it names. */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  const names = member(patch, RETAIN_KEYS);
  if (names === undefined) return;
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(names)) throw badRequest('invalid patch format of retainKeys');
  const retained = new Set(names);
  for (const key of Object.keys(patch)) {
    const isDirective = key.startsWith(DELETE_FROM_PRIMITIVE_LIST) || key.startsWith(SET_ELEMENT_ORDER);
    if (patch[key] === null || isDirective) continue;
    if (!retained.has(key)) throw badRequest('invalid patch format of retainKeys');
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key];
}

function mergeMember(original: JsonObject, patchKey: string, value: Json, schema: PatchSchema | undefined): void {
  const deletes = patchKey.startsWith(DELETE_FROM_PRIMITIVE_LIST);
  const key = deletes ? listName(patchKey, DELETE_FROM_PRIMITIVE_LIST, 'primitive list') : patchKey;
  if (value === null) {
    delete original[key];
    return;
  }
  const current = member(original, key);
  const field = schema?.field(key) ?? UNKNOWN_FIELD;
  if (isObject(current) && isObject(value)) {
    if (field.strategies.includes('replace')) setMember(original, key, value);
    else setMember(original, key, mergeObjects(current, value, field.schema));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    setMember(original, key, deletes ? deleteFromPrimitives(current, value) : mergeOrReplace(current, value, field));
  } else if (!deletes) {
    takeFromPatch(original, key, value);
  }
}

function mergeOrReplace(current: Json[], patch: Json[], field: PatchField): Json[] {
  return field.strategies.includes('merge') ? mergeLists(current, patch, field, mergeObjects) : patch;
}

/** Sets a value where the document has none of its type. An object that is a directive has no effect there. */
function takeFromPatch(original: JsonObject, key: string, value: Json): void {
  const isScalar = typeof value !== 'object';
  const kept = isScalar ? value : withoutDirectives(withoutNulls(value));
  if (kept === undefined) delete original[key];
  else setMember(original, key, kept);
}

/** `$setElementOrder/<list>`: the list is merged with the list of the patch, if any, and sorted in that order. */
function mergeOrderedLists(original: JsonObject, patch: JsonObject, schema: PatchSchema | undefined): void {
  for (const directive of Object.keys(patch).filter((key) => key.startsWith(SET_ELEMENT_ORDER))) {
    const order = expectList(patch[directive]!);
    delete patch[directive];
    const key = listName(directive, SET_ELEMENT_ORDER, 'setElementOrder list');
    const current = optionalList(member(original, key));
    const patched = optionalList(member(patch, key));
    if (current === undefined && patched === undefined) continue;
    const field = schema?.field(key) ?? UNKNOWN_FIELD;
    setMember(
      original,
      key,
      orderBySetElementOrder({ current, patched, order, field, mergeOrReplace, withoutDirectives }),
    );
    delete patch[key];
  }
}

function optionalList(value: Json | undefined): Json[] | undefined {
  return value === undefined ? undefined : expectList(value);
}

function expectList(value: Json): Json[] {
  if (!Array.isArray(value)) {
    throw new PatchError('InternalError', `expected a []interface {}, but received a ${goTypeName(value)}`);
  }
  return value;
}

function goTypeName(value: Json): string {
  if (value === null) return '%!s(<nil>)';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

function listName(directive: string, prefix: string, what: string): string {
  if (!directive.startsWith(`${prefix}/`)) throw badRequest(`invalid patch format of ${what}`);
  return directive.slice(prefix.length + 1);
}

/** A copy of a value without the objects that contain `$patch`. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, PATCH_DIRECTIVE)) return undefined;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    const each = withoutDirectives(value[key]!);
    if (each !== undefined) setMember(kept, key, each);
  }
  return kept;
}

function badRequest(message: string): PatchError {
  return new PatchError('BadRequest', message);
}

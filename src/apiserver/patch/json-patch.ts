import { runAtOnce } from '../../base/work-slices.js';
import { cloneJson, isObject, type Json, type JsonObject, jsonEqual, member, setMember } from '../../kube/json.js';
import { goJsonKind } from '../values/go-text.js';
import { PatchError } from './json-patch-error.js';

export const JSON_PATCH_OPERATIONS_MAX = 10_000;
/** Bound on the bytes that all `copy` operations of one patch add, so that a small patch cannot make a huge object. */
const JSON_PATCH_COPY_BYTES_MAX = 3 * 1024 * 1024;

export interface JsonPatchOperation {
  readonly op: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: Json;
}

interface ParsedJsonPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** Members that no operation has, for field validation (`Strict` refuses, `Warn` warns). */
  readonly problems: readonly string[];
}

/** Reads a patch of RFC 6902 from a parsed body. */
export function parseJsonPatch(body: Json): ParsedJsonPatch {
  if (body === null) return { operations: [], problems: [] };
  if (!Array.isArray(body)) throw undecodable(body, 'value of type []handlers.jsonPatchOp');
  const problems: string[] = [];
  const operations = body.map((each, index) => {
    if (each === null) return { op: '' };
    if (!isObject(each)) throw undecodable(each, 'value of type handlers.jsonPatchOp');
    for (const [key, value] of Object.entries(each)) {
      if (!['op', 'path', 'from', 'value'].includes(key)) problems.push(`json patch unknown field "[${index}].${key}"`);
      else if (key !== 'value' && value !== null && typeof value !== 'string') {
        throw undecodable(value, `struct field jsonPatchOp.${key} of type string`);
      }
    }
    return withoutNullNames(each);
  });
  if (operations.length > JSON_PATCH_OPERATIONS_MAX) {
    throw new PatchError(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${JSON_PATCH_OPERATIONS_MAX}, got ${operations.length}`,
    );
  }
  return { operations, problems };
}

/** Applies a patch to a copy of the document. Throws PatchError when an operation does not apply. */
export function applyJsonPatch(document: Json, operations: readonly JsonPatchOperation[]): Json {
  return runAtOnce(jsonPatchSteps(document, operations));
}

/** Same as `applyJsonPatch`, yielding after each operation, because one on a long list takes time. */
export function* jsonPatchSteps(document: Json, operations: readonly JsonPatchOperation[]): Generator<void, Json> {
  const state = { root: cloneJson(document), copiedBytes: 0 };
  for (const operation of operations) {
    const apply = Object.hasOwn(OPERATIONS, operation.op) ? OPERATIONS[operation.op] : undefined;
    if (apply === undefined) throw PatchError.doesNotApply(`Unexpected kind: ${operation.op}`);
    apply(state, operation);
    yield;
  }
  return state.root;
}

interface State {
  root: Json;
  copiedBytes: number;
}

type Container = Json[] | JsonObject;

/** The operations of RFC 6902, with kube-apiserver's deviations, which comments point out. */
const OPERATIONS: Readonly<Record<string, (state: State, operation: JsonPatchOperation) => void>> = {
  add(state, operation) {
    const { container, key } = locate(state.root, pathOf(operation));
    insert(container, key, givenValue(operation));
  },
  remove(state, operation) {
    const { container, key } = locate(state.root, pathOf(operation));
    remove(container, key);
  },
  replace(state, operation) {
    const path = pathOf(operation);
    const value = givenValue(operation);
    if (path === '') {
      if (!Array.isArray(value) && !isObject(value))
        throw PatchError.doesNotApply('the root must be an object or array');
      state.root = value;
      return;
    }
    const { container, key } = locate(state.root, path);
    // kube-apiserver adds a missing member; only an item of a list must exist.
    if (Array.isArray(container)) container[indexOf(container, key)] = value;
    else setMember(container, key, value);
  },
  move(state, operation) {
    const source = locate(state.root, pathOf(operation, 'from'));
    const value = read(source.container, source.key);
    remove(source.container, source.key);
    const target = locate(state.root, pathOf(operation));
    insert(target.container, target.key, value ?? null);
  },
  copy(state, operation) {
    const source = locate(state.root, pathOf(operation, 'from'));
    const value = read(source.container, source.key) ?? null;
    const target = locate(state.root, pathOf(operation));
    state.copiedBytes += Buffer.byteLength(JSON.stringify(value));
    if (state.copiedBytes > JSON_PATCH_COPY_BYTES_MAX) throw PatchError.doesNotApply('copy operations add too much');
    insert(target.container, target.key, cloneJson(value));
  },
  test(state, operation) {
    const path = pathOf(operation);
    const wanted = givenValue(operation);
    const { container, key } = path === '' ? { container: { '': state.root }, key: '' } : locate(state.root, path);
    // For kube-apiserver a missing value equals null.
    if (!jsonEqual(read(container, key) ?? null, wanted)) throw PatchError.doesNotApply(`testing value ${path} failed`);
  },
};

function locate(root: Json, path: string): { container: Container; key: string } {
  // kube-apiserver ignores text before the first slash. Step by step, because a path can be longer than the document is deep.
  let container: Json | undefined = root;
  let slash = path.indexOf('/');
  while (slash >= 0 && (Array.isArray(container) || isObject(container))) {
    const next = path.indexOf('/', slash + 1);
    const key = unescaped(path.slice(slash + 1, next < 0 ? path.length : next));
    if (next < 0) return { container, key };
    container = read(container, key);
    slash = next;
  }
  throw PatchError.doesNotApply(`doc is missing path: "${path}"`);
}

function unescaped(part: string): string {
  return part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part;
}

function read(container: Container, key: string): Json | undefined {
  return Array.isArray(container) ? container[indexOf(container, key)] : member(container, key);
}

function insert(container: Container, key: string, value: Json): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(parseIndex(key, container.length + 1), 0, value);
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) {
    container.splice(indexOf(container, key), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw PatchError.doesNotApply(`Unable to remove nonexistent key: ${key}`);
  delete container[key];
}

function indexOf(items: readonly Json[], key: string): number {
  return parseIndex(key, items.length);
}

/** The index of an item; kube-apiserver counts negative ones from the end. */
function parseIndex(key: string, length: number): number {
  const index = /^[+-]?\d{1,15}$/.test(key) ? Number(key) : Number.NaN;
  const position = index < 0 ? index + length : index;
  if (!(position >= 0 && position < length)) throw PatchError.doesNotApply(`Unable to access invalid index: ${key}`);
  return position;
}

function pathOf(operation: JsonPatchOperation, name: 'path' | 'from' = 'path'): string {
  const path = operation[name];
  if (path !== undefined) return path;
  throw PatchError.doesNotApply(`${operation.op} operation failed to decode ${name}: missing value`);
}

/** A copy of the value, which is null by default: a later `add` into the document must not change the patch. */
function givenValue({ value }: JsonPatchOperation): Json {
  return cloneJson(value ?? null);
}

function withoutNullNames(operation: JsonObject): JsonPatchOperation {
  const { op, path, from, value } = operation;
  return {
    op: typeof op === 'string' ? op : '',
    ...(typeof path === 'string' ? { path } : {}),
    ...(typeof from === 'string' ? { from } : {}),
    ...(value === undefined ? {} : { value }),
  };
}

function undecodable(value: Json, wanted: string): PatchError {
  return new PatchError(
    'BadRequest',
    `error decoding patch: json: cannot unmarshal ${goJsonKind(value)} into Go ${wanted}`,
  );
}

import type { Reply } from '../../http/exchange.js';
import { groupVersion } from '../../kube/gvr.js';
import { isDeeperThan, isObject, JSON_LEVELS_MAX, type Json, type JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import type { StatusReason } from '../../kube/status.js';
import { StatusError } from '../../kube/status-error.js';
import { AppliedObjectError, ApplyConflictError, applySteps } from '../apply/apply.js';
import { trackUpdateSteps } from '../apply/track-update.js';
import { jsonPatchSteps, parseJsonPatch } from '../patch/json-patch.js';
import { PatchError } from '../patch/json-patch-error.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import { strategicMergeSteps } from '../patch/strategic-merge-patch.js';
import { withMetadata } from '../registry/metadata.js';
import { refuseInvalid } from '../registry/refuse-invalid.js';
import type { ResourceType } from '../registry/resource-type.js';
import { forbidden, invalid, required } from '../schema/field-problems.js';
import { patchSchemaOf } from '../schema/patch-schema.js';
import { formatProblems } from '../schema/validate.js';
import { goJsonSyntaxError } from '../values/go-json-syntax.js';
import { goJsonKind, goText } from '../values/go-text.js';
import { objectAnswer } from './answer.js';
import type { ApiCall } from './api-call.js';
import { type Change, changeObject } from './change-object.js';
import { createObject, withNamespace } from './create.js';
import {
  checkFields,
  examineFields,
  jsonDuplicates,
  mediaTypeOf,
  parseDocument,
  unsupportedMediaType,
} from './decode.js';
import { checkObjectSize } from './object-size.js';
import { type FieldValidation, optionsObject, refuseOptions, type WriteOptions, writeOptions } from './options.js';
import { outputForm } from './output-form.js';
import { readRequestBody } from './read-body.js';
import { writerOf } from './writer.js';

const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const;
type PatchType = (typeof PATCH_TYPES)[number];

/** From this minor version on kube-apiserver checks the syntax of a patch before its kind, with other messages. */
const SYNTAX_FIRST_MINOR = 37;

/** PATCH of an object, or of a part of it through a subresource, in any of the four ways. */
export async function patch(call: ApiCall): Promise<Reply> {
  outputForm(call.exchange, call.query, call.type);
  const patchType = patchTypeOf(call);
  const options = patchOptions(call, patchType);
  const body = await readRequestBody(call.exchange);
  call.slices.begin();
  const change =
    patchType === 'application/apply-patch+yaml'
      ? applying(call, body, options)
      : patching(call, body, patchType, options);
  const { view, created } = await changeObject(call, change);
  return objectAnswer(call, created ? 201 : 200, view);
}

/** Throws UnsupportedMediaType, also for strategic merge patches of custom resources. */
function patchTypeOf({ exchange, type }: ApiCall): PatchType {
  const mediaType = mediaTypeOf(exchange);
  const known = PATCH_TYPES.filter(
    (each) => type.origin === 'built-in' || each !== 'application/strategic-merge-patch+json',
  );
  const found = known.find((each) => each === mediaType);
  if (found) return found;
  throw unsupportedMediaType(known);
}

function patchOptions({ query }: ApiCall, patchType: PatchType): WriteOptions {
  const options = writeOptions('PatchOptions', query);
  const isApply = patchType === 'application/apply-patch+yaml';
  if (isApply && options.fieldManager === '') {
    refuseOptions('PatchOptions', [required('fieldManager', 'is required for apply patch')]);
  }
  if (!isApply && query.has('force')) {
    refuseOptions('PatchOptions', [forbidden('force', 'may not be specified for non-apply patch')]);
  }
  return options;
}

/** A parsed patch. */
interface Patcher {
  /** Yields between passes over the object. */
  apply(live: JsonObject): Generator<void, JsonObject>;
  /** Messages about duplicate members and unknown members of operations. */
  readonly mistakes: readonly string[];
  /** Returns the value in the message about a result that is not valid. */
  shown(patched: JsonObject): string;
  /** Returns the message about a result that is not of the kind, from that of a JSON decoder. */
  told(problem: string): string;
}

function patching(
  call: ApiCall,
  body: Buffer,
  patchType: Exclude<PatchType, 'application/apply-patch+yaml'>,
  options: WriteOptions,
): Change {
  const { type, info, slices, machinery } = call;
  const patcher = patcherOf(body, patchType, { type, minor: machinery.minor }, options);
  const writer = writerOf(call, options, info.subresource);
  return {
    subresource: info.subresource,
    async wish(live) {
      const patched = await slices.run(patcher.apply(live)).catch(rethrowTranslated);
      if (isDeeperThan(patched, JSON_LEVELS_MAX)) throw new StatusError('BadRequest', 'exceeded max depth');
      checkObjectSize(patched);
      if (slices.isOver) await slices.next();
      const checked = checkPatched(call, patched, patcher, options);
      if (slices.isOver) await slices.next();
      const defaulted = type.strategy.setDefaults(withNamespace(call, checked));
      checkObjectSize(defaulted);
      return slices.run(trackUpdateSteps(live, defaulted, writer));
    },
    options: optionsObject('UpdateOptions', options),
    dryRun: options.dryRun,
  };
}

/** Throws Invalid if the result is not an object of the kind. */
function checkPatched(
  { type, warnings }: ApiCall,
  patched: JsonObject,
  patcher: Patcher,
  { fieldValidation }: WriteOptions,
): JsonObject {
  const { object, problem, mistakes } = examinePatched(patched, type, fieldValidation);
  const all = [...patcher.mistakes, ...mistakes];
  const why =
    (problem === undefined ? undefined : patcher.told(problem)) ??
    (fieldValidation === 'Strict' && all.length > 0 ? `strict decoding error: ${all.join(', ')}` : undefined);
  if (why !== undefined) {
    const cause = invalid('patch', patcher.shown(patched), why);
    throw new StatusError('Invalid', ` "" is invalid: ${formatProblems([cause])}`, { causes: [cause] });
  }
  if (fieldValidation === 'Warn') for (const message of all) warnings.add(message);
  return object;
}

function examinePatched(
  patched: JsonObject,
  type: ResourceType,
  fieldValidation: FieldValidation,
): ReturnType<typeof examineFields> {
  const expected = groupVersion(type.group, type.version);
  const { kind = type.kind, apiVersion = expected } = patched;
  if (kind === type.kind && apiVersion === expected) return examineFields(patched, type, fieldValidation);
  const problem = `converting (${apiVersion}.${kind}) to (${expected}.${type.kind}): unknown conversion`;
  return { object: patched, problem, mistakes: [] };
}

function patcherOf(
  body: Buffer,
  patchType: Exclude<PatchType, 'application/apply-patch+yaml'>,
  { type, minor }: { readonly type: ResourceType; readonly minor: number },
  options: WriteOptions,
): Patcher {
  const shown = (patched: JsonObject): string => JSON.stringify(patched);
  const told = (problem: string): string => problem;
  if (patchType === 'application/json-patch+json') {
    const parsed = parsePatch(body, '', minor);
    try {
      const { operations, problems } = parseJsonPatch(parsed);
      const apply = function* (live: JsonObject): Generator<void, JsonObject> {
        return asObject(yield* jsonPatchSteps(live, operations));
      };
      return { apply, mistakes: problems, shown, told };
    } catch (error) {
      return rethrowTranslated(error);
    }
  }
  const isMerge = patchType === 'application/merge-patch+json';
  const parsed = parsePatch(body, isMerge ? 'error decoding patch' : '', minor);
  const mistakes = options.fieldValidation === 'Ignore' ? [] : jsonDuplicates(body.toString('utf8'), parsed);
  if (!isObject(parsed)) {
    const why = `json: cannot unmarshal ${goJsonKind(parsed)} into Go value of type map[string]interface {}`;
    throw new StatusError('BadRequest', isMerge ? `error decoding patch: ${why}` : why);
  }
  if (isMerge) {
    const apply = function* (live: JsonObject): Generator<void, JsonObject> {
      yield;
      return applyMergePatch(live, parsed);
    };
    return { apply, mistakes, shown, told };
  }
  const schema = patchSchemaOf(type.schema);
  return {
    apply: (live) => strategicMergeSteps(live, parsed, schema),
    mistakes,
    shown: () => goText(parsed),
    told: inConvertersWords,
  };
}

/** Throws BadRequest. */
function parsePatch(body: Buffer, what: string, minor: number): Json {
  try {
    return parseDocument(body, 'json', what);
  } catch (error) {
    if (minor < SYNTAX_FIRST_MINOR || goJsonSyntaxError(body.toString('utf8')) === undefined) throw error;
    throw new StatusError('BadRequest', 'invalid JSON patch');
  }
}

/** kube-apiserver does not decode the result of a strategic patch from JSON; its converter has other messages. */
function inConvertersWords(problem: string): string {
  const [, found, wanted] = /^json: cannot unmarshal (\w+) into .* of type (\S+)$/.exec(problem) ?? [];
  if (found === undefined || wanted === undefined) return problem;
  const kind = ({ object: 'map', array: 'slice', number: 'int64' } as Record<string, string>)[found] ?? found;
  if (wanted.startsWith('[]')) return `cannot restore slice from ${kind}`;
  if (wanted.startsWith('map[')) return `cannot restore map from ${kind}`;
  return wanted.includes('.') ? `cannot restore struct from: ${kind}` : `unrecognized type: ${wanted}`;
}

function asObject(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw new StatusError('Invalid', 'the server rejected our request due to an error in our request');
}

function rethrowTranslated(error: unknown): never {
  if (error instanceof PatchError) throw new StatusError(withoutReason(error.reason), error.message);
  throw error;
}

/** kube-apiserver replies with the message of its patch library: a 500 without a reason. */
function withoutReason(reason: StatusReason): StatusReason {
  return reason === 'InternalError' ? '' : reason;
}

function applying(call: ApiCall, body: Buffer, options: WriteOptions): Change {
  const { type, info, warnings, slices, machinery } = call;
  const what = machinery.minor >= SYNTAX_FIRST_MINOR ? 'patch' : 'YAML';
  const parsed = parseDocument(body, 'yaml', `error decoding ${what}`);
  if (!isObject(parsed))
    throw new StatusError('BadRequest', `error decoding ${what}: the applied configuration must be an object`);
  if (parsed['kind'] !== type.kind && parsed['apiVersion'] === groupVersion(type.group, type.version)) {
    const place = type.group === '' ? `/${type.version}` : parsed['apiVersion'];
    throw new StatusError('BadRequest', `invalid object type: ${place}, Kind=${parsed['kind'] ?? ''}`);
  }
  const sent = nameOf(parsed);
  if (sent !== '' && sent !== info.name) {
    throw new StatusError(
      'BadRequest',
      `name in URL (${info.name}) does not match name in the applied object (${sent})`,
    );
  }
  // Only duplicates are checked here: apply itself refuses unknown fields.
  const text = body.toString('utf8');
  if (text.trimStart().startsWith('{')) reportDuplicates(jsonDuplicates(text, parsed), what, options, warnings);
  const named = withNamespace(call, withMetadata(parsed, { ...metadataOf(parsed), name: info.name }));
  const request = { ...writerOf(call, options, info.subresource), force: options.force };
  const apply = async (live: JsonObject | undefined): Promise<JsonObject> => {
    try {
      return await slices.run(applySteps(live, named, request));
    } catch (error) {
      if (error instanceof ApplyConflictError) throw new StatusError('Conflict', error.message, error.details);
      if (error instanceof AppliedObjectError) throw new StatusError(withoutReason(error.reason), error.message);
      throw error;
    }
  };
  return {
    subresource: info.subresource,
    wish: apply,
    ...(info.subresource === '' && type.verbs.has('create')
      ? {
          async create() {
            const made = type.strategy.setDefaults(checkedNew(await apply(undefined), call, options));
            checkObjectSize(made);
            return createObject(call, made, options);
          },
        }
      : {}),
    options: optionsObject('UpdateOptions', options),
    dryRun: options.dryRun,
  };
}

function reportDuplicates(
  messages: readonly string[],
  what: 'patch' | 'YAML',
  { fieldValidation }: WriteOptions,
  warnings: Set<string>,
): void {
  if (messages.length > 0 && fieldValidation === 'Strict') {
    throw new StatusError('BadRequest', `error strict decoding ${what}: ${messages.join(', ')}`);
  }
  if (fieldValidation === 'Warn') for (const message of messages) warnings.add(message);
}

/** Checks an object that an apply creates like that of a create. */
function checkedNew(
  object: JsonObject,
  { type, warnings, info }: ApiCall,
  { fieldValidation }: WriteOptions,
): JsonObject {
  const uid = metadataOf(object)['uid'] ?? '';
  if (uid !== '') refuseInvalid(type, info.name, [invalid('metadata.uid', uid, 'field is immutable')]);
  // The resourceVersion is ignored for an object that does not exist yet.
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  return checkFields(withMetadata(object, metadata), type, { fieldValidation, warnings, duplicates: [] });
}

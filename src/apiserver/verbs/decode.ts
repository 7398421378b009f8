import { loadAll } from 'js-yaml';
import { ProtobufError } from '../../base/protobuf-wire.js';
import type { Exchange } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { groupVersion } from '../../kube/gvr.js';
import { isDeeperThan, isObject, JSON_LEVELS_MAX, type Json, type JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { BODY_VALUES_MAX } from '../contracts/size-bounds.js';
import { type DecodedObject, decodeProtobuf } from '../protobuf/decode-protobuf.js';
import { refuseInvalid } from '../registry/refuse-invalid.js';
import type { ResourceType } from '../registry/resource-type.js';
import { duplicateFields, namesEachOnce } from '../schema/duplicate-fields.js';
import { invalid } from '../schema/field-problems.js';
import { goDecodeProblem } from '../schema/go-decode.js';
import { pruneUnknownFields, unknownFieldMessage } from '../schema/unknown-fields.js';
import { goJsonSyntaxError } from '../values/go-json-syntax.js';
import { firstDocument } from '../yaml/first-document.js';
import { duplicateLineOf, parsedJson } from '../yaml/long-yaml.js';
import { YAML_UNFOLDED_CHARS_MAX } from '../yaml/yaml-thread.js';
import type { ApiCall } from './api-call.js';
import { checkObjectSize } from './object-size.js';
import { type FieldValidation, type WriteOptions, writeOptions } from './options.js';
import { outputForm, PROTOBUF_MEDIA_TYPE } from './output-form.js';
import { readRequestBody } from './read-body.js';

type BodyEncoding = 'json' | 'yaml' | 'protobuf';

export function mediaTypeOf({ headers }: Exchange): string {
  return (headerValue(headers, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
}

/** Throws UnsupportedMediaType, also for protobuf of custom resources: only built-in kinds have messages. */
export function bodyEncoding(exchange: Exchange, type?: Pick<ResourceType, 'origin'>): BodyEncoding {
  const mediaType = mediaTypeOf(exchange);
  if (mediaType === '' || mediaType === 'application/json') return 'json';
  if (mediaType === 'application/yaml') return 'yaml';
  const takesProtobuf = type?.origin !== 'custom';
  if (takesProtobuf && mediaType === PROTOBUF_MEDIA_TYPE) return 'protobuf';
  throw unsupportedMediaType(['application/json', 'application/yaml', ...(takesProtobuf ? [PROTOBUF_MEDIA_TYPE] : [])]);
}

export function unsupportedMediaType(taken: readonly string[]): StatusError {
  return new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${taken.join(', ')}`,
  );
}

/** Reads the object of a create or an update and its options. Also checks that the reply will be acceptable. */
export async function readObject(
  { exchange, query, type, slices, warnings }: ApiCall,
  kind: 'CreateOptions' | 'UpdateOptions',
): Promise<{ readonly sent: JsonObject; readonly options: WriteOptions }> {
  outputForm(exchange, query, type);
  const options = writeOptions(kind, query);
  const encoding = bodyEncoding(exchange, type);
  const body = await readRequestBody(exchange);
  slices.begin();
  const sent = await slices.run(decodeSteps(body, encoding, type, { ...options, warnings }));
  return { sent, options };
}

/** Reads a body that is not an object of the call's type. */
export async function readDocument(exchange: Exchange, expected?: ExpectedKind): Promise<Json> {
  const encoding = bodyEncoding(exchange);
  return parseDocument(await readRequestBody(exchange), encoding, "couldn't get version/kind", expected);
}

interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Parses JSON or YAML, or decodes a protobuf message, within bounds. Throws BadRequest. */
export function parseDocument(bytes: Buffer, encoding: BodyEncoding, what: string, expected?: ExpectedKind): Json {
  const prefix = what === '' ? '' : `${what}: `;
  if (encoding === 'protobuf') return fromMessage(bytes, prefix, expected);
  const text = bytes.toString('utf8');
  let value: Json;
  try {
    value = encoding === 'json' ? (JSON.parse(text) as Json) : parseYaml(text);
  } catch (error) {
    const why =
      encoding === 'json' ? (goJsonSyntaxError(text) ?? 'not JSON') : (error as Error).message.split('\n', 1)[0];
    throw new StatusError('BadRequest', prefix + why);
  }
  if (isDeeperThan(value, JSON_LEVELS_MAX)) throw new StatusError('BadRequest', `${prefix}exceeded max depth`);
  return value;
}

/** Returns the first document, as kube-apiserver does; of duplicate members the last counts. */
function parseYaml(text: string): Json {
  const first = firstDocument(text);
  const json = parsedJson(first);
  if (json !== undefined) return json;
  const value = (loadAll(first, { json: true })[0] ?? null) as Json;
  if (unfoldsBeyond(value)) throw new Error('document contains excessive aliasing');
  // The caller refuses deep documents; JSON.stringify would exhaust the stack.
  if (isDeeperThan(value, JSON_LEVELS_MAX)) return value;
  // Through JSON, so that aliases are copies and YAML dates are strings.
  return JSON.parse(JSON.stringify(value)) as Json;
}

function yamlDuplicates(text: string): string[] {
  try {
    loadAll(firstDocument(text));
    return [];
  } catch (error) {
    const { reason, mark } = error as { reason?: string; mark?: { line: number } };
    if (reason !== 'duplicated mapping key') return [];
    return [yamlDuplicateMessage((mark?.line ?? 0) + 1)];
  }
}

function yamlDuplicateMessage(line: number): string {
  return `yaml: line ${line}: key already set in map`;
}

function fromMessage(bytes: Buffer, prefix: string, expected: Parameters<typeof decodeProtobuf>[1]): Json {
  let decoded: DecodedObject;
  try {
    decoded = decodeProtobuf(bytes, expected);
  } catch (error) {
    if (error instanceof ProtobufError) throw new StatusError('BadRequest', prefix + error.message);
    throw error;
  }
  // A message may contain JSON and packed numbers, whose decoded form is larger.
  checkObjectSize(decoded.object);
  if (isDeeperThan(decoded.object, JSON_LEVELS_MAX)) throw new StatusError('BadRequest', `${prefix}exceeded max depth`);
  return decoded.object;
}

/**
 * Decodes an object of a kind: checks its kind and the types of its fields, and drops unknown fields
 * with an error, a warning or neither according to `fieldValidation`. Yields between passes over the
 * whole object.
 */
function* decodeSteps(
  bytes: Buffer,
  encoding: BodyEncoding,
  type: ResourceType,
  { fieldValidation, warnings }: { readonly fieldValidation: FieldValidation; readonly warnings: Set<string> },
): Generator<void, JsonObject> {
  const cannot = encoding === 'protobuf' ? '' : ": couldn't get version/kind";
  const unrecognized = `the object provided is unrecognized (must be of type ${type.kind})${cannot}`;
  const expected = { apiVersion: groupVersion(type.group, type.version), kind: type.kind };
  const document = parseDocument(bytes, encoding, unrecognized, expected);
  yield;
  if (document !== null && !isObject(document)) {
    throw new StatusError('BadRequest', `${unrecognized}: the document is no object`);
  }
  const object = document ?? {};
  checkKind(object, type);
  const duplicates = fieldValidation === 'Ignore' ? [] : duplicatesIn(bytes, encoding, object);
  yield;
  // Unknown fields of a protobuf message are never reported.
  const validation = encoding === 'protobuf' ? 'Ignore' : fieldValidation;
  return checkFields(object, type, { fieldValidation: validation, warnings, duplicates });
}

function duplicatesIn(bytes: Buffer, encoding: BodyEncoding, object: JsonObject): string[] {
  if (encoding === 'protobuf') return [];
  const text = bytes.toString('utf8');
  if (encoding === 'yaml') {
    const line = duplicateLineOf(bytes);
    if (line !== undefined) return [yamlDuplicateMessage(line)];
    return parsedJson(text) !== undefined && namesEachOnce(text, object) ? [] : yamlDuplicates(text);
  }
  return jsonDuplicates(text, object);
}

/** Returns messages about the duplicate members of a JSON text. */
export function jsonDuplicates(text: string, parsed: Json): string[] {
  if (namesEachOnce(text, parsed)) return [];
  return duplicateFields(text).map((field) => `duplicate field ${JSON.stringify(field)}`);
}

/** Throws BadRequest for a document of another kind. A built-in kind may leave out kind and apiVersion. */
export function checkKind(
  document: JsonObject,
  type: Pick<ResourceType, 'group' | 'version' | 'kind' | 'origin'>,
): void {
  const expected = groupVersion(type.group, type.version);
  const { apiVersion = '', kind = '' } = document;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new StatusError(
      'BadRequest',
      "couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field .apiVersion of type string",
    );
  }
  if (type.origin === 'custom' && (apiVersion === '' || kind === '')) {
    const missing = kind === '' ? 'Kind' : 'apiVersion';
    throw new StatusError('BadRequest', `Object '${missing}' is missing in '${brief(document)}'`);
  }
  // kube-apiserver decodes custom resources of any kind and refuses another kind in validation.
  if (type.origin === 'custom' && apiVersion === expected && kind !== type.kind) {
    const { group } = type;
    refuseInvalid({ group, kind }, nameOf(document), [invalid('kind', kind, `must be ${type.kind}`)]);
  }
  if (apiVersion !== '' && apiVersion !== expected) {
    throw new StatusError(
      'BadRequest',
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== '' && kind !== type.kind) {
    throw new StatusError(
      'BadRequest',
      `${kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${type.kind}: converting to ${type.kind}: unknown conversion`,
    );
  }
}

interface FieldChecks {
  readonly fieldValidation: FieldValidation;
  readonly warnings: Set<string>;
  /** Messages about duplicate members. */
  readonly duplicates: readonly string[];
}

export function checkFields(document: JsonObject, type: ResourceType, checks: FieldChecks): JsonObject {
  const { fieldValidation, warnings, duplicates } = checks;
  const cannot = `${type.kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: `;
  const { object, problem, mistakes } = examineFields(document, type, fieldValidation);
  if (problem !== undefined) throw new StatusError('BadRequest', cannot + problem);
  const messages = fieldValidation === 'Ignore' ? [] : [...duplicates, ...mistakes];
  if (messages.length > 0 && fieldValidation === 'Strict') {
    throw new StatusError('BadRequest', `${cannot}strict decoding error: ${messages.join(', ')}`);
  }
  for (const message of messages) warnings.add(message);
  return object;
}

/** Returns the document without unknown fields, or the problem with the types of its fields. */
export function examineFields(
  document: JsonObject,
  type: ResourceType,
  fieldValidation: FieldValidation,
): { readonly object: JsonObject; readonly problem: string | undefined; readonly mistakes: readonly string[] } {
  const identified = { ...document, kind: type.kind, apiVersion: groupVersion(type.group, type.version) };
  const problem = goDecodeProblem(type.origin === 'built-in' ? identified : metadataOnly(identified), type.schema);
  if (problem !== undefined) return { object: identified, problem, mistakes: [] };
  const { object, unknownFields } = pruneUnknownFields(identified, type.schema);
  const mistakes = fieldValidation === 'Ignore' ? [] : unknownFields.map(unknownFieldMessage);
  return { object, problem: undefined, mistakes };
}

/** Of custom resources only the metadata has types before validation. */
function metadataOnly({ metadata, kind, apiVersion }: JsonObject): JsonObject {
  return { kind: kind!, apiVersion: apiVersion!, ...(metadata === undefined ? {} : { metadata }) };
}

function brief(document: JsonObject): string {
  const text = JSON.stringify(document);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** Bounds the size of a document with its YAML aliases expanded: an alias of a few bytes can be a whole tree. */
function unfoldsBeyond(root: Json): boolean {
  const open: Json[] = [root];
  let values = 0;
  let chars = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') chars += value.length;
    else if (Array.isArray(value)) for (const child of value) open.push(child);
    else if (isObject(value)) {
      for (const name of Object.keys(value)) {
        chars += name.length;
        open.push(value[name]!);
      }
    }
    if (++values > BODY_VALUES_MAX || chars > YAML_UNFOLDED_CHARS_MAX) return true;
  }
  return false;
}

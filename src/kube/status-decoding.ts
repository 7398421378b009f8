import { CborError, cborValueAt } from '../base/cbor-wire.js';
import { ProtobufError, WireReader } from '../base/protobuf-wire.js';
import { isObject, type Json, type JsonObject, member } from './json.js';
import { isEnveloped, openEnvelope } from './protobuf-envelope.js';

/** The fields of a Status that tell one refusal from another. */
export interface ReadStatus {
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly hasDetails: boolean;
}

/**
 * Reads a failure that a server sent as a Status, in any encoding of kube-apiserver, which the first bytes show: JSON, YAML,
 * protobuf or CBOR. Returns undefined for anything else. For short bodies: all of them are read as a whole.
 */
export function readStatus(body: Buffer): ReadStatus | undefined {
  try {
    if (isEnveloped(body)) return fromProtobuf(body);
    if (isCbor(body)) return fromFields((name) => cborValueAt(body, [name]));
    const text = body.toString('utf8');
    const object: Json = text.trimStart().startsWith('{') ? JSON.parse(text) : flatYaml(text);
    return isObject(object) ? fromFields((name) => member(object, name)) : undefined;
  } catch (error) {
    if (error instanceof ProtobufError || error instanceof CborError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function fromFields(field: (name: string) => Json | undefined): ReadStatus | undefined {
  const [message, reason, code, details] = ['message', 'reason', 'code', 'details'].map(field);
  if (field('kind') !== 'Status' || field('apiVersion') !== 'v1' || field('status') !== 'Failure') return undefined;
  if (typeof message !== 'string' || typeof reason !== 'string' || typeof code !== 'number') return undefined;
  return { message, reason, code, hasDetails: details !== undefined };
}

function fromProtobuf(body: Buffer): ReadStatus | undefined {
  const { apiVersion, kind, raw } = openEnvelope(body);
  const fields = new Map<string, Json>([
    ['apiVersion', apiVersion],
    ['kind', kind],
  ]);
  const reader = new WireReader(raw);
  while (reader.next()) {
    if (reader.field === 2) fields.set('status', reader.text());
    else if (reader.field === 3) fields.set('message', reader.text());
    else if (reader.field === 4) fields.set('reason', reader.text());
    else if (reader.field === 5) fields.set('details', {});
    else if (reader.field === 6) fields.set('code', reader.int32());
  }
  return fromFields((name) => fields.get(name));
}

/** Kubernetes begins every item with the tag of a self-described one (RFC 8949, 3.4.6). */
function isCbor(body: Buffer): boolean {
  return body[0] === 0xd9 && body[1] === 0xd9 && body[2] === 0xf7;
}

/**
 * Reads the top level of a mapping as a Status is written: plain and quoted scalars, of which a long one is folded into
 * lines with an indent. The content of nested values is skipped. Throws SyntaxError for anything else.
 */
function flatYaml(text: string): JsonObject {
  const fields: JsonObject = {};
  for (const { name, value } of topLevelFields(text)) {
    fields[name] = value === '' || value === '{}' ? {} : yamlScalar(value);
  }
  return fields;
}

function topLevelFields(text: string): { readonly name: string; value: string }[] {
  const found: { readonly name: string; value: string }[] = [];
  for (const line of text.split('\n')) {
    const last = found.at(-1);
    if (line === '') continue;
    if (line.startsWith(' ') && last) {
      if (last.value !== '') last.value += ` ${line.trim()}`;
      continue;
    }
    const [, name, value] = /^([A-Za-z]+):(?: (.*))?$/.exec(line) ?? [];
    if (name === undefined) throw new SyntaxError('not a mapping');
    found.push({ name, value: value?.trim() ?? '' });
  }
  return found;
}

function yamlScalar(value: string): Json {
  if (/^-?\d+$/.test(value)) return Number(value);
  if (value.startsWith('"')) return JSON.parse(value) as Json;
  return /^'.*'$/.test(value) ? value.slice(1, -1).replaceAll("''", "'") : value;
}

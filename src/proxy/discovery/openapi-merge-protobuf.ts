/**
 * Merges OpenAPI in protobuf (the gnostic messages) on the wire: only lists of named items are
 * parsed, and the items are copied unchanged. Documents are never decoded as a whole, and unknown
 * fields are preserved.
 */

import { DELIMITED, WireReader, WireWriter } from '../../base/protobuf-wire.js';

/** Per field number: a list of named items (field 1 is the name), or a message with such lists. */
interface Union {
  readonly [field: number]: 'named' | Union;
}

const NAMED_ONE: Union = { 1: 'named' };

/** swagger: paths, definitions, parameters, responses, security definitions. */
const V2: Union = { 8: { 2: 'named' }, 9: NAMED_ONE, 10: NAMED_ONE, 11: NAMED_ONE, 13: NAMED_ONE };

/** openapi: paths, and every section of components. */
const V3: Union = {
  4: { 1: 'named' },
  5: Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((section) => [section, NAMED_ONE])),
};

/** One field on the wire. `value` is set for length-delimited ones. */
interface Field {
  readonly id: number;
  readonly raw: Buffer;
  readonly value: Buffer | undefined;
}

/**
 * Returns the union of the documents, with precedence for the first; undefined if one of them is
 * not OpenAPI in protobuf.
 */
export function mergeOpenApiProtobuf(version: 'v2' | 'v3', documents: readonly Buffer[]): Buffer | undefined {
  try {
    const parsed = documents.map(fieldsOf);
    // Field 1 is the version of the specification: other data can be well-formed protobuf too.
    if (!parsed.every((fields) => /^[23]\./.test(nameOf(fields)))) return undefined;
    const writer = new WireWriter(Math.max(...documents.map((document) => document.length)));
    mergeMessage(writer, parsed, version === 'v2' ? V2 : V3);
    return writer.finish();
  } catch {
    return undefined;
  }
}

function mergeMessage(writer: WireWriter, messages: readonly (readonly Field[])[], unions: Union): void {
  for (const id of [...new Set(messages.flatMap((fields) => fields.map((field) => field.id)))].sort((a, b) => a - b)) {
    const union = unions[id];
    const found = messages.map((fields) => fields.filter((field) => field.id === id)).filter((list) => list.length > 0);
    if (union === undefined) for (const field of found[0]!) writer.raw(field.raw);
    else if (union === 'named') for (const raw of mergeNamed(found)) writer.raw(raw);
    else {
      const inner = found.map((list) => list.flatMap((field) => fieldsOf(needValue(field))));
      writer.message(id, () => mergeMessage(writer, inner, union));
    }
  }
}

/** Merges named items, sorted by name as in Kubernetes. */
function mergeNamed(found: readonly (readonly Field[])[]): Buffer[] {
  const byName = new Map<string, Buffer>();
  for (const field of found.flat()) {
    const name = nameOf(fieldsOf(needValue(field)));
    if (!byName.has(name)) byName.set(name, field.raw);
  }
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, raw]) => raw);
}

function nameOf(fields: readonly Field[]): string {
  return fields.find((field) => field.id === 1)?.value?.toString() ?? '';
}

function needValue(field: Field): Buffer {
  if (!field.value) throw new Error('not a message');
  return field.value;
}

function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  const reader = new WireReader(bytes);
  while (reader.next()) {
    const value = reader.wireType === DELIMITED ? reader.bytes() : undefined;
    fields.push({ id: reader.field, raw: reader.raw(), value });
  }
  return fields;
}

/**
 * OpenAPI in protobuf (the gnostic messages), merged on the wire: only the lists of named things are opened, their
 * items are copied as they are. So a document is never decoded, and fields that are not known here survive.
 */

/** Per field number: a list of named items (whose field 1 is the name) or a message with such lists inside. */
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

/** One field as it stands on the wire. `value` is set for length-delimited ones. */
interface Field {
  readonly id: number;
  readonly raw: Buffer;
  readonly value: Buffer | undefined;
}

/** The union of the documents, the first having the say; undefined if one of them is not protobuf. */
export function mergeOpenApiProtobuf(version: 'v2' | 'v3', documents: readonly Buffer[]): Buffer | undefined {
  try {
    const parsed = documents.map(fieldsOf);
    // Field 1 is the version of the specification: something else entirely can be well-formed protobuf too.
    if (!parsed.every((fields) => /^[23]\./.test(nameOf(fields)))) return undefined;
    return mergeMessage(parsed, version === 'v2' ? V2 : V3);
  } catch {
    return undefined;
  }
}

function mergeMessage(messages: readonly (readonly Field[])[], unions: Union): Buffer {
  const out: Buffer[] = [];
  for (const id of [...new Set(messages.flatMap((fields) => fields.map((field) => field.id)))].sort((a, b) => a - b)) {
    const union = unions[id];
    const found = messages.map((fields) => fields.filter((field) => field.id === id)).filter((list) => list.length > 0);
    if (union === undefined) out.push(...found[0]!.map((field) => field.raw));
    else if (union === 'named') out.push(...mergeNamed(found));
    else out.push(...mergeNested(id, found, union));
  }
  return Buffer.concat(out);
}

function mergeNested(id: number, found: readonly (readonly Field[])[], union: Union): Buffer[] {
  const inner = mergeMessage(
    found.map((list) => list.flatMap((field) => fieldsOf(needValue(field)))),
    union,
  );
  return [varint((id << 3) | 2), varint(inner.length), inner];
}

/** Sorted by name, as Kubernetes writes them. */
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
  for (let at = 0; at < bytes.length; ) {
    const start = at;
    const [tag, afterTag] = readVarint(bytes, at);
    let value: Buffer | undefined;
    switch (tag & 7) {
      case 0:
        [, at] = readVarint(bytes, afterTag);
        break;
      case 1:
        at = afterTag + 8;
        break;
      case 2: {
        const [length, from] = readVarint(bytes, afterTag);
        at = from + length;
        value = bytes.subarray(from, at);
        break;
      }
      case 5:
        at = afterTag + 4;
        break;
      default:
        throw new Error('unknown wire type');
    }
    if (at > bytes.length || tag >>> 3 === 0) throw new Error('truncated');
    fields.push({ id: tag >>> 3, raw: bytes.subarray(start, at), value });
  }
  return fields;
}

/** Values here are lengths and tags, far below 2^31; a longer varint is read past, its value is not used. */
function readVarint(bytes: Buffer, from: number): [value: number, next: number] {
  let value = 0;
  for (let at = from, shift = 0; at < bytes.length && shift < 70; at++, shift += 7) {
    const byte = bytes[at]!;
    if (shift < 49) value += (byte & 127) * 2 ** shift;
    if (byte < 128) return [value, at + 1];
  }
  throw new Error('truncated');
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

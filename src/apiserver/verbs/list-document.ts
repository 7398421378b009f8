import type { WorkSlices } from '../../base/work-slices.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { encodeProtobufList } from '../protobuf/encode-protobuf.js';
import { tableHead, tableRow } from '../table/table.js';
import type { OutputForm } from '../watch/watch-encoder.js';
import { partial } from './answer.js';
import type { ApiCall } from './api-call.js';

/** A list, or its table or metadata: the members before its items, and the items, made one at a time. */
export interface ListDocument {
  readonly head: JsonObject;
  readonly name: 'items' | 'rows';
  readonly items: Iterable<Json>;
}

/** Returns a list in the requested form. */
export function listDocument(
  { type, machinery }: ApiCall,
  list: {
    readonly head: JsonObject;
    readonly objects: readonly JsonObject[];
    readonly asItem: (object: JsonObject) => Json;
  },
  form: OutputForm,
): ListDocument {
  const { head, objects, asItem } = list;
  if (form.as === 'object') return { head, name: 'items', items: mapped(objects, asItem) };
  const apiVersion = `meta.k8s.io/${form.version}`;
  if (form.as === 'metadata') {
    const items = mapped(objects, (object) => partial(object, form.version));
    return {
      head: { kind: 'PartialObjectMetadataList', apiVersion, metadata: head['metadata'] ?? {} },
      name: 'items',
      items,
    };
  }
  const { printer } = type;
  const options = { includeObject: form.includeObject, nowMs: machinery.clock.nowMs() };
  const shown = objects.filter(isObject);
  if (printer.compare !== undefined) shown.sort(printer.compare);
  const rows = mapped(shown, (object) => tableRow(object, printer, options));
  return { head: { ...tableHead(head, printer), apiVersion }, name: 'rows', items: rows };
}

function* mapped<T>(objects: readonly JsonObject[], form: (object: JsonObject) => T): IterableIterator<T> {
  for (const object of objects) yield form(object);
}

/** Encodes a list as JSON, in slices: thousands of objects take seconds. */
export async function listJson(
  { head, name, items }: ListDocument,
  indent: number,
  slices: WorkSlices,
): Promise<Buffer> {
  const [line, inner] = indent === 0 ? ['', ''] : ['\n', `\n${' '.repeat(2 * indent)}`];
  const margin = ' '.repeat(indent);
  const headText = JSON.stringify(head, null, indent);
  const chunks: Buffer[] = [];
  // Without its closing brace.
  let text = headText.slice(0, headText.length - 1 - line.length);
  text += `,${line}${margin}"${name}":${indent === 0 ? '' : ' '}[`;
  let opening = inner;
  for (const item of items) {
    const whole = JSON.stringify(item, null, indent);
    text += opening + (indent === 0 ? whole : whole.replaceAll('\n', inner));
    opening = `,${inner}`;
    if (text.length >= CHUNK_CHARS) {
      chunks.push(Buffer.from(text));
      text = '';
    }
    if (slices.isOver) await slices.next();
  }
  if (opening !== inner) text += indent === 0 ? '' : `${line}${margin}`;
  chunks.push(Buffer.from(`${text}]${line}}`));
  return Buffer.concat(chunks);
}

/** Text is encoded in pieces of about this size, because one piece could not be divided into slices. */
const CHUNK_CHARS = 64 * 1024;

/** Encodes a list as protobuf, in slices; undefined if there is no message for it. */
export async function listProtobuf(
  { head, name, items }: ListDocument,
  slices: WorkSlices,
): Promise<Buffer | undefined> {
  const whole = encodeProtobufList(head, name, items);
  return whole && slices.run(whole);
}

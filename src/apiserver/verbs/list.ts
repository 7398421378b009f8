import type { Reply } from '../../http/exchange.js';
import { groupVersion } from '../../kube/gvr.js';
import type { Json, JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { storageFailure } from '../registry/storage-failure.js';
import { isStorageError } from '../storage/storage-error.js';
import type { Selection } from '../watch/resource-cache.js';
import { type ServedView, servedViews } from '../watch/served-view.js';
import { StoredObject } from '../watch/stored-object.js';
import type { OutputForm } from '../watch/watch-encoder.js';
import { bytesAnswer, DOCUMENT_BYTES_FACTOR, yamlAnswer } from './answer.js';
import type { ApiCall } from './api-call.js';
import { type ContinueToken, decodeContinue, encodeContinue } from './continue-token.js';
import { listDocument, listJson, listProtobuf } from './list-document.js';
import { type ListOptions, listOptions } from './list-options.js';
import { checkNumber, isPretty, notAcceptable, outputForm, PROTOBUF_MEDIA_TYPE } from './output-form.js';
import { reserveReply } from './reserve-reply.js';
import { awaitNewest, awaitRevision } from './resource-version.js';
import { selectionOf } from './selection.js';

/** Objects of one read from the store during the search for a page of selected objects. */
const CHUNK_MAX = 500;

/** Memory reserved for a list of a past revision, whose size is not known before it is read. */
const PAST_LIST_BYTES = 8 * 1024 * 1024;

/** One page of a list. */
export interface Page {
  readonly views: readonly ServedView[];
  readonly revision: number;
  readonly continueToken: string;
  /** Number of objects after the page; undefined with a selector. */
  readonly remaining: number | undefined;
  /** Size of the objects as they are stored. */
  readonly storedBytes: number;
}

export async function list(call: ApiCall): Promise<Reply> {
  const form = outputForm(call.exchange, call.query, call.type);
  checkNumber(form, call.type, true);
  const page = await readPage(call, listOptions(call.query), selectionOf(call));
  const isPlain = form.as === 'object' && form.encoding === 'json' && !isPretty(call.exchange, call.query);
  const waiting = reserveReply(call, page.storedBytes * (isPlain ? 1 : DOCUMENT_BYTES_FACTOR));
  if (waiting) await waiting;
  if (isPlain) return bytesAnswer(call, 200, await listBytes(call, page));
  const objects = page.views.map(({ object }) => object);
  return listAnswer(call, { head: listHead(call, page), objects, asItem: (object) => asItem(call, object) }, form);
}

/** Replies with a list in any form but plain JSON, whose bytes are kept with the objects. */
export async function listAnswer(
  call: ApiCall,
  list: Parameters<typeof listDocument>[1],
  form: OutputForm,
): Promise<Reply> {
  const document = listDocument(call, list, form);
  if (form.encoding === 'protobuf') {
    const bytes = await listProtobuf(document, call.slices);
    if (bytes === undefined) throw notAcceptable();
    return bytesAnswer(call, 200, bytes, PROTOBUF_MEDIA_TYPE);
  }
  const indent = form.encoding === 'json' && isPretty(call.exchange, call.query) ? 2 : 0;
  const json = await listJson(document, indent, call.slices);
  if (form.encoding === 'yaml') return yamlAnswer(call, 200, json);
  return bytesAnswer(call, 200, indent === 0 ? Buffer.concat([json, LINE_END]) : json);
}

const LINE_END = Buffer.from('\n');

export function readPage(call: ApiCall, options: ListOptions, selection: Selection): Promise<Page> {
  if (options.continueToken !== '') return readOn(call, options, selection, decodeContinue(options.continueToken));
  if (options.exactRevision !== undefined) {
    return readAt(call, options, selection, { revision: options.exactRevision, startAfter: '' });
  }
  return readCached(call, options, selection);
}

/** Reads a page from the cache once that has reached the requested revision. */
async function readCached(call: ApiCall, options: ListOptions, selection: Selection): Promise<Page> {
  const { type, machinery } = call;
  if (options.minimumRevision === undefined) await awaitNewest(call);
  else await awaitRevision(call, options.minimumRevision);
  const cache = machinery.caches.of(type.storage.prefix);
  // The state of this revision: there is no await until all references are taken.
  const { revision } = machinery.feed;
  const found: StoredObject[] = [];
  let continueToken = '';
  let remaining: number | undefined;
  const range = cache.select(selection);
  const total = selection.takesAll && options.limit > 0 ? cache.countFrom(selection.prefix) : 0;
  const { slices } = call;
  for (const stored of selection.takesAll ? range : [...range]) {
    if (!selection.takesAll) {
      if (slices.isOver) await slices.next();
      if (!selection.matches(stored.object)) continue;
    }
    if (options.limit > 0 && found.length === options.limit) {
      continueToken = encodeContinue({ revision, startAfter: found.at(-1)!.key.slice(selection.prefix.length) });
      if (selection.takesAll) remaining = total - found.length;
      break;
    }
    found.push(stored);
  }
  return { views: await servedViews(found, type), revision, continueToken, remaining, storedBytes: bytesOf(found) };
}

async function readOn(call: ApiCall, options: ListOptions, selection: Selection, token: ContinueToken): Promise<Page> {
  if (options.resourceVersionGiven) {
    throw new StatusError('BadRequest', 'specifying resource version is not allowed when using continue');
  }
  // A list whose revision was compacted continues with the newest state.
  const at = token.revision === -1 ? { ...token, revision: await call.machinery.backend.currentRevision() } : token;
  return readAt(call, options, selection, at);
}

/** Reads a page from the store at a revision. */
async function readAt(call: ApiCall, options: ListOptions, selection: Selection, from: ContinueToken): Promise<Page> {
  const { type, machinery } = call;
  const { prefix } = selection;
  await call.exchange.holding?.reserve(PAST_LIST_BYTES);
  const wanted = options.limit > 0 ? options.limit : Number.POSITIVE_INFINITY;
  const found: StoredObject[] = [];
  let startAfter = from.startAfter === '' ? undefined : `${prefix}${from.startAfter}`;
  try {
    for (;;) {
      const chunk = await machinery.backend.list(prefix, {
        revision: from.revision,
        limit: selection.takesAll && options.limit > 0 ? options.limit : CHUNK_MAX,
        ...(startAfter === undefined ? {} : { startAfter }),
      });
      for (const [index, kv] of chunk.items.entries()) {
        if (call.slices.isOver) await call.slices.next();
        const stored = new StoredObject(kv);
        if (selection.isSingle && stored.key !== prefix) continue;
        if (!selection.matches(stored.object)) continue;
        found.push(stored);
        const rest = chunk.remainingCount + chunk.items.length - index - 1;
        if (found.length < wanted || rest === 0) continue;
        const views = await servedViews(found, type);
        const continueToken = encodeContinue({ revision: from.revision, startAfter: stored.key.slice(prefix.length) });
        const remaining = selection.takesAll ? rest : undefined;
        return { views, revision: from.revision, continueToken, remaining, storedBytes: bytesOf(found) };
      }
      if (chunk.remainingCount === 0) break;
      startAfter = chunk.items.at(-1)!.key.toString('utf8');
    }
  } catch (error) {
    if (isStorageError(error, 'compacted') && options.continueToken !== '') throw lostPlace(from);
    throw storageFailure(error, type, '');
  }
  const views = await servedViews(found, type);
  return { views, revision: from.revision, continueToken: '', remaining: undefined, storedBytes: bytesOf(found) };
}

function bytesOf(objects: readonly StoredObject[]): number {
  let bytes = 0;
  for (const { value } of objects) bytes += value.byteLength;
  return bytes;
}

function lostPlace({ startAfter }: ContinueToken): StatusError {
  const error = new StatusError(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
  );
  Object.assign(error.status.metadata, { continue: encodeContinue({ revision: -1, startAfter }) });
  return error;
}

export function listHead(
  { type }: ApiCall,
  { revision, continueToken, remaining }: Pick<Page, 'revision' | 'continueToken' | 'remaining'>,
): JsonObject {
  const metadata = {
    resourceVersion: String(revision),
    ...(continueToken === '' ? {} : { continue: continueToken }),
    ...(remaining === undefined || continueToken === '' ? {} : { remainingItemCount: remaining }),
  };
  return { kind: type.listKind, apiVersion: groupVersion(type.group, type.version), metadata };
}

async function listBytes(call: ApiCall, page: Page): Promise<Buffer> {
  const { slices } = call;
  const head = listHead(call, page);
  const chunks: Buffer[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)];
  let opening = FIRST_OPENING;
  for (const view of page.views) {
    const { itemBytes } = view;
    chunks.push(opening, itemBytes);
    opening = NEXT_OPENING;
    if (slices.isOverAfter(itemBytes.byteLength)) await slices.next();
  }
  chunks.push(LIST_END);
  return Buffer.concat(chunks);
}

const FIRST_OPENING = Buffer.from('{');
const NEXT_OPENING = Buffer.from(',{');
const LIST_END = Buffer.from(']}\n');

function asItem({ type }: ApiCall, object: JsonObject): Json {
  if (type.origin === 'custom') return object;
  const { kind: _, apiVersion: __, ...item } = object;
  return item;
}

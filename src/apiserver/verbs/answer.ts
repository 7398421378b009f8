import { dump } from 'js-yaml';
import { chunkedBody } from '../../http/chunked-body.js';
import type { Reply } from '../../http/exchange.js';
import { gzipFor, KUBE_APISERVER_GZIP } from '../../http/ready-document.js';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { encodeProtobuf } from '../protobuf/encode-protobuf.js';
import type { ResourceType } from '../registry/resource-type.js';
import { toTable } from '../table/table.js';
import { ServedView } from '../watch/served-view.js';
import type { OutputForm } from '../watch/watch-encoder.js';
import { dumpInThread, YAML_INLINE_BYTES_MAX } from '../yaml/yaml-thread.js';
import type { ApiCall } from './api-call.js';
import { checkNumber, isPretty, notAcceptable, outputForm, PROTOBUF_MEDIA_TYPE } from './output-form.js';
import { reserveReply } from './reserve-reply.js';

const WARNING_CHARS_MAX = 4_096;
/** Bytes of memory that a document and its encoding take for each byte of JSON. */
export const DOCUMENT_BYTES_FACTOR = 3;

/** A promise only for a reply that must be compressed or must wait: nearly every request ends here. */
type Answer = Reply | Promise<Reply>;

/** Replies with one object in the requested form. */
export function objectAnswer(call: ApiCall, status: number, view: ServedView | JsonObject): Answer {
  const form = outputForm(call.exchange, call.query, call.type);
  checkNumber(form, call.type, false);
  const isView = view instanceof ServedView;
  const pretty = isPretty(call.exchange, call.query);
  const isPlain = form.as === 'object' && form.encoding === 'json' && !pretty;
  const object = isView ? view.object : view;
  const answer = (): Answer =>
    isPlain && isView
      ? bytesAnswer(call, status, view.bytes)
      : plainAnswer(call, status, shaped(object, call.type, form, call.machinery.clock.nowMs()), form);
  const waiting = isView
    ? reserveReply(call, view.bytes.byteLength * (isPlain ? 1 : DOCUMENT_BYTES_FACTOR))
    : undefined;
  return waiting ? waiting.then(answer) : answer();
}

/** Replies with an object of another type than the call's: a Status, a Scale, a review. */
export function plainAnswer(
  call: Pick<ApiCall, 'exchange' | 'query' | 'warnings'>,
  status: number,
  document: JsonObject,
  form: Pick<OutputForm, 'encoding'> = outputForm(call.exchange, call.query),
): Answer {
  if (form.encoding === 'yaml') return yamlAnswer(call, status, Buffer.from(JSON.stringify(document)));
  if (form.encoding === 'protobuf') {
    const bytes = encodeProtobuf(document);
    if (bytes === undefined) throw notAcceptable();
    return bytesAnswer(call, status, bytes, PROTOBUF_MEDIA_TYPE);
  }
  const indent = isPretty(call.exchange, call.query) ? 2 : 0;
  return bytesAnswer(call, status, Buffer.from(JSON.stringify(document, null, indent) + (indent === 0 ? '\n' : '')));
}

/** Replies with YAML made from the JSON of a document, by a thread if it is long: js-yaml cannot pause. */
export function yamlAnswer(call: Pick<ApiCall, 'exchange' | 'warnings'>, status: number, json: Buffer): Answer {
  const answer = (bytes: Buffer): Answer => bytesAnswer(call, status, bytes, 'application/yaml');
  if (json.byteLength <= YAML_INLINE_BYTES_MAX) {
    return answer(Buffer.from(dump(JSON.parse(json.toString()), { noRefs: true })));
  }
  return dumpInThread(json).then((bytes) => {
    if (bytes !== undefined) return answer(bytes);
    throw new StatusError('InternalError', 'the answer takes too much time or memory to be written as YAML');
  });
}

export function bytesAnswer(
  { exchange, warnings }: Pick<ApiCall, 'exchange' | 'warnings'>,
  status: number,
  bytes: Buffer,
  contentType = 'application/json',
): Answer {
  const headers = ['Content-Type', contentType, 'Cache-Control', 'no-cache, private'];
  if (warnings.size > 0) headers.push(...warningHeaders(warnings));
  const compressing = gzipFor(exchange.headers, bytes, KUBE_APISERVER_GZIP);
  if (compressing === undefined) return withBody(status, headers, bytes);
  headers.push('Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding');
  return compressing.then((body) => withBody(status, headers, body));
}

function withBody(status: number, headers: string[], body: Buffer): Reply {
  headers.push('Content-Length', String(body.byteLength));
  return { status, headers, body: chunkedBody(body) };
}

/** Returns an object, its table or its metadata. */
function shaped(object: JsonObject, type: ResourceType, form: OutputForm, nowMs: number): JsonObject {
  if (form.as === 'table') {
    const table = toTable(object, type.printer, { includeObject: form.includeObject, nowMs });
    return { ...table, apiVersion: `meta.k8s.io/${form.version}` };
  }
  return form.as === 'metadata' ? partial(object, form.version) : object;
}

export function partial(object: JsonObject, version: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object['metadata'] ?? {} };
}

export function warningHeaders(warnings: ReadonlySet<string>): string[] {
  const headers: string[] = [];
  let chars = 0;
  for (const text of warnings) {
    chars += text.length;
    if (chars > WARNING_CHARS_MAX) break;
    const printable = text.replace(/[\u0000-\u001f\u007f]/g, ' ').replace(/["\\]/g, '\\$&');
    // Header values are sent as latin1: other characters as the bytes of their UTF-8.
    headers.push('Warning', `299 - "${Buffer.from(printable, 'utf8').toString('latin1')}"`);
  }
  return headers;
}

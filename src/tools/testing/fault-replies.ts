import { rawQuery } from '../../base/target.js';
import { readBody } from '../../http/body-stream.js';
import { deriveExchange } from '../../http/derive-exchange.js';
import type { Exchange, Handler, Reply } from '../../http/exchange.js';
import { filterHeaders, headerValue } from '../../http/headers.js';
import { isObject, type JsonObject, member, objectMember, parsedObject } from '../../kube/json.js';
import { STATUS_CODES, type StatusReason } from '../../kube/status.js';
import { StatusError } from '../../kube/status-error.js';

const DISCOVERY_BYTES_MAX = 64 * 1024 * 1024;

/** Returns whether a request refers to a version that a server may have forgotten. */
export function mayExpire({ info, target }: Exchange): boolean {
  const query = new URLSearchParams(rawQuery(target));
  const version = query.get('resourceVersion') ?? '';
  if (info.verb === 'watch') return version !== '' && version !== '0';
  return info.verb === 'list' && (query.has('continue') || query.get('resourceVersionMatch') === 'Exact');
}

/** Replies to a watch with an event and to a list with a Status, as API servers do. */
export function expired({ info, headers, target }: Exchange): Reply {
  const version = new URLSearchParams(rawQuery(target)).get('resourceVersion') ?? '';
  const error = new StatusError('Expired', `too old resource version: ${version}`);
  // Written without an event in protobuf: its clients take the status of the reply in the same way.
  if (info.verb !== 'watch' || (headerValue(headers, 'accept') ?? '').includes('protobuf')) throw error;
  const line = Buffer.from(`${JSON.stringify({ type: 'ERROR', object: error.status })}\n`);
  return {
    status: 200,
    headers: ['Content-Type', 'application/json', 'Cache-Control', 'no-cache, private'],
    body: line,
  };
}

export function conflict({ info }: Exchange): never {
  const { group, resource, name } = info;
  const kind = group === '' ? resource : `${resource}.${group}`;
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  throw new StatusError('Conflict', `Operation cannot be fulfilled on ${kind} ${JSON.stringify(name)}: ${why}`, {
    name,
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}

/** Returns undefined for a code that no reason of Kubernetes has. */
export function reasonOf(code: number): StatusReason | undefined {
  const reasons = Object.keys(STATUS_CODES) as StatusReason[];
  return reasons.find((reason) => reason !== '' && reason !== 'AlreadyExists' && STATUS_CODES[reason] === code);
}

/** Returns whether a request is for a document of discovery in which the group is. */
export function isDiscoveryOf(group: string, { info, method }: Exchange): boolean {
  if (info.isResource || method !== 'GET') return false;
  return info.path.replace(/\/$/, '') === '/apis' || isOfGroup(group, info.path);
}

/** Replies with the document without the group. */
export async function withoutGroup(group: string, exchange: Exchange, next: Handler): Promise<Reply> {
  if (isOfGroup(group, exchange.info.path))
    throw new StatusError('NotFound', 'the server could not find the requested resource');
  // A document that the client has already would be a 304, and a compressed one could not be changed.
  const asked = filterHeaders(exchange.headers, (name) => name !== 'if-none-match' && name !== 'accept-encoding');
  const whole = deriveExchange(exchange, { headers: asked, nowMs: exchange.startedAtMs });
  exchange.onAbort(() => whole.abort());
  try {
    const reply = await next(whole);
    const body = await readBody(reply.body, DISCOVERY_BYTES_MAX);
    const document = parsedObject(body.toString('utf8'));
    const shortened = reply.status === 200 ? Buffer.from(JSON.stringify(lacking(group, document))) : body;
    const kept = filterHeaders(reply.headers, (name) => name !== 'etag' && name !== 'content-length');
    return {
      status: reply.status,
      headers: [...kept, 'Content-Length', String(shortened.byteLength)],
      body: shortened,
    };
  } finally {
    whole.end();
  }
}

function isOfGroup(group: string, path: string): boolean {
  return path === `/apis/${group}` || path.startsWith(`/apis/${group}/`);
}

/** Of an APIGroupDiscoveryList, or an APIGroupList. */
function lacking(group: string, document: JsonObject): JsonObject {
  const changed = { ...document };
  const [items, groups] = [member(document, 'items'), member(document, 'groups')];
  if (Array.isArray(items))
    changed['items'] = items.filter((each) => !isObject(each) || objectMember(each, 'metadata')['name'] !== group);
  if (Array.isArray(groups)) changed['groups'] = groups.filter((each) => !isObject(each) || each['name'] !== group);
  return changed;
}

import { rawQuery } from '../base/target.js';
import { WorkSlices } from '../base/work-slices.js';
import type { Exchange, Reply } from '../http/exchange.js';
import type { RequestInfo } from '../kube/request-info.js';
import { StatusError } from '../kube/status-error.js';
import { decodeQuery, isValidText } from '../kube/wire-text.js';
import { unstoredType } from './admission/unstored-type.js';
import type { User } from './contracts/user.js';
import type { ResourceType } from './registry/resource-type.js';
import type { VirtualResource } from './registry/served-resources.js';
import { notFound } from './registry/storage-failure.js';
import type { TypeRegistry } from './registry/type-registry.js';
import type { ReviewDependencies } from './reviews/reviews.js';
import { bind, bindByName } from './subresources/binding.js';
import { evict } from './subresources/eviction.js';
import { connect, kubeletUnreachable } from './subresources/kubelet.js';
import { review } from './subresources/review-subresource.js';
import { scale } from './subresources/scale.js';
import type { ApiCall, Machinery, Verb } from './verbs/api-call.js';
import { create } from './verbs/create.js';
import { deleteOne } from './verbs/delete.js';
import { deletecollection } from './verbs/deletecollection.js';
import { get } from './verbs/get.js';
import { list } from './verbs/list.js';
import { patch } from './verbs/patch.js';
import { update } from './verbs/update.js';
import { watch } from './verbs/watch.js';

export interface DispatchOptions {
  readonly machinery: Machinery;
  readonly registry: TypeRegistry;
  readonly reviews: ReviewDependencies;
}

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['get', get],
  ['list', list],
  ['watch', watch],
  ['create', create],
  ['update', update],
  ['patch', patch],
  ['delete', deleteOne],
  ['deletecollection', deletecollection],
]);

/** Subresources with a special handler, instead of a view of the object. */
const SUBRESOURCES: ReadonlyMap<string, Verb> = new Map([
  ['/pods/binding', bind],
  ['/pods/eviction', evict],
  ['/pods/attach', connect],
  ['/pods/exec', connect],
  ['/pods/log', kubeletUnreachable],
  ['/pods/portforward', connect],
  ['/pods/proxy', connect],
  ['/nodes/proxy', connect],
  ['/services/proxy', connect],
]);

/** Replies to a request for a local resource; undefined for any other. Throws StatusError. */
export function dispatch(exchange: Exchange, user: User, options: DispatchOptions): Promise<Reply> | undefined {
  const { info } = exchange;
  const type = options.registry.find(info.group, info.version, info.resource);
  const warnings = new Set<string>();
  const query = queryOf(exchange.target);
  const slices = new WorkSlices();
  if (!type) {
    const virtual = options.registry.findVirtual(info.group, info.version, info.resource);
    const { machinery } = options;
    return virtual && virtualReply({ exchange, info, query, user, warnings, slices, machinery }, virtual, options);
  }
  if (type.deprecationWarning !== undefined) warnings.add(type.deprecationWarning);
  const call: ApiCall = { exchange, info, query, type, user, warnings, slices, machinery: options.machinery };
  if (!isPlaceOf(type, call) || hasMore(info)) return undefined;
  if (exchange.method === 'HEAD') throw notAllowed();
  checkName(type, info.name);
  if (info.subresource !== '') return subresource(call, options);
  if (!isVerbOfPath(type, info)) throw notAllowed();
  return verbOf(type.verbs, info.verb)(call);
}

/** Parses the query of a target as Go does. */
export function queryOf(target: string): URLSearchParams {
  const raw = rawQuery(target);
  if (raw === '') return NO_QUERY;
  const text = decodeQuery(raw);
  if (!MALFORMED_PAIR.test(text)) return new URLSearchParams(text);
  // Go skips malformed pairs.
  const pairs = text.split('&').filter((pair) => !MALFORMED_PAIR.test(pair));
  return new URLSearchParams(pairs.join('&'));
}

const MALFORMED_PAIR = /%(?![0-9a-fA-F]{2})|;/;

const NO_QUERY = new URLSearchParams();

/** Returns whether the path has a namespace exactly if objects of the type have one. */
function isPlaceOf(type: ResourceType, { info }: ApiCall): boolean {
  if (type.namespaced) return info.namespace !== '' || (info.name === '' && info.subresource === '');
  return info.namespace === '' || (info.resource === 'namespaces' && info.group === '');
}

const OBJECT_VERBS: ReadonlySet<string> = new Set(['get', 'watch', 'update', 'patch', 'delete']);
const COLLECTION_VERBS: ReadonlySet<string> = new Set(['list', 'watch', 'create', 'deletecollection']);
/** Verbs on all namespaces at once. */
const WIDE_VERBS: ReadonlySet<string> = new Set(['list', 'watch']);

/** Returns whether a path has a route for the verb: a collection cannot be patched. */
function isVerbOfPath(type: ResourceType, { name, namespace, verb }: RequestInfo): boolean {
  if (name !== '') return OBJECT_VERBS.has(verb);
  return (type.namespaced && namespace === '' ? WIDE_VERBS : COLLECTION_VERBS).has(verb);
}

/** Returns whether the path goes on after the subresource, which only proxies have. */
function hasMore({ path, subresource, name, verb }: RequestInfo): boolean {
  if (subresource === '' || subresource === 'proxy' || verb === 'proxy') return false;
  return !path.replace(/\/+$/, '').endsWith(`/${name}/${subresource}`);
}

/** Throws BadRequest for a name with a percent sign, NotFound for one that is not valid text. */
function checkName(type: ResourceType, name: string): void {
  if (!isValidText(name)) throw notFound(type, name);
  if (!name.includes('%')) return;
  throw new StatusError('BadRequest', `Name parameter invalid: ${JSON.stringify(name)}: may not contain '%'`);
}

function verbOf(served: ReadonlySet<string>, name: string): Verb {
  const verb = served.has(name) ? VERBS.get(name) : undefined;
  if (verb) return verb;
  throw notAllowed();
}

function subresource(call: ApiCall, { reviews }: DispatchOptions): Promise<Reply> | undefined {
  const { type, info } = call;
  const served = type.subresources.get(info.subresource);
  if (!served) {
    // For custom resources kube-apiserver replies that the object was not found.
    if (type.origin === 'custom') throw notFound(type, info.name);
    return undefined;
  }
  if (!served.verbs.has(info.verb)) throw notAllowed();
  const place = `${type.group}/${type.resource}/${info.subresource}`;
  const special = SUBRESOURCES.get(place);
  if (special) return special(call);
  if (place === '/serviceaccounts/token') {
    const { kindGroup: group, kindVersion: version, kind } = served;
    return review(call, { place, group, version, kind }, reviews);
  }
  if (info.subresource === 'scale') return scale(call);
  return verbOf(served.verbs, info.verb)(call);
}

function virtualReply(
  request: Omit<ApiCall, 'type'>,
  virtual: VirtualResource,
  { registry, reviews }: DispatchOptions,
): Promise<Reply> | undefined {
  const { info } = request;
  if (!virtual.verbs.has(info.verb) || info.subresource !== '') throw notAllowed();
  if (virtual.namespaced && info.namespace === '') return undefined;
  const call = { ...request, type: unstoredType(virtual) };
  const place = `${virtual.group}/${virtual.resource}`;
  const pods = registry.find('', virtual.version, 'pods');
  if (place === '/bindings' && pods) return bindByName(call, pods);
  return review(call, { ...virtual, place }, reviews);
}

function notAllowed(): StatusError {
  return new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

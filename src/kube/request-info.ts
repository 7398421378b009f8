import { rawPath, rawQuery } from '../base/target.js';
import { gvrKey } from './gvr.js';
import { decodePath } from './wire-text.js';

/** Attributes of a request, from method, path and query alone, by the rules of kube-apiserver. */
export interface RequestInfo {
  readonly isResource: boolean;
  /** Decoded path, as in the API server's router. Octets that are not UTF-8 are lone surrogates. */
  readonly path: string;
  /** Kubernetes verb for resource requests, else the method in lower case. Empty where Kubernetes has no verb. */
  readonly verb: string;
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  /** `gvrKey` of the request, computed once; empty for non-resource requests. */
  readonly resourceKey: string;
  readonly subresource: string;
  readonly name: string;
  /** Watches, logs, exec and the like, which have no timeout and are not counted as in flight. */
  readonly longRunning: boolean;
}

export const NON_RESOURCE: RequestInfo = {
  isResource: false,
  path: '/',
  verb: 'get',
  apiPrefix: '',
  group: '',
  version: '',
  namespace: '',
  resource: '',
  resourceKey: '',
  subresource: '',
  name: '',
  longRunning: false,
};

const VERB_OF_METHOD: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

const LONG_RUNNING_SUBRESOURCES: ReadonlySet<string> = new Set(['proxy', 'exec', 'attach', 'portforward', 'log']);

/**
 * Parses a request. `target` is the raw path and query. Returns undefined for a path that cannot be
 * decoded, which Go servers refuse as malformed too.
 */
export function parseRequestInfo(method: string, target: string): RequestInfo | undefined {
  const path = decodePath(rawPath(target));
  if (path === undefined) return undefined;

  const parts = splitPath(path);
  const grouped = parts[0] === 'apis';
  const resourceAt = grouped ? 3 : 2;
  if ((!grouped && parts[0] !== 'api') || parts.length <= resourceAt) {
    return { ...NON_RESOURCE, path, verb: method.toLowerCase() };
  }
  return resourceInfo(method, path, rawQuery(target), parts, resourceAt);
}

/** Parses a resource request. `first` is the index in `parts` of the segment after the version. */
function resourceInfo(method: string, path: string, query: string, parts: string[], first: number): RequestInfo {
  let at = first;
  let verb = VERB_OF_METHOD.get(method) ?? '';
  // The deprecated path prefixes /watch/… and /proxy/… contain the verb.
  if ((parts[at] === 'watch' || parts[at] === 'proxy') && parts.length > at + 1) {
    verb = parts[at]!;
    at += 1;
  }

  let namespace = '';
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = parts[at + 1]!;
    // Only `status` and `finalize` are subresources of a namespace; anything else is a resource inside it.
    if (parts.length > at + 2 && parts[at + 2] !== 'status' && parts[at + 2] !== 'finalize') at += 2;
  }

  const resource = parts[at] ?? '';
  const name = parts[at + 1] ?? '';
  const subresource = verb === 'proxy' ? '' : (parts[at + 2] ?? '');
  if (name === '' && verb === 'get') verb = asksToWatch(query) ? 'watch' : 'list';
  if (name === '' && verb === 'delete') verb = 'deletecollection';

  const group = parts[0] === 'apis' ? parts[1]! : '';
  const version = parts[first - 1]!;
  return {
    isResource: true,
    path,
    verb,
    apiPrefix: parts[0]!,
    group,
    version,
    namespace,
    resource,
    resourceKey: gvrKey(group, version, resource),
    subresource,
    name,
    longRunning: verb === 'watch' || verb === 'proxy' || LONG_RUNNING_SUBRESOURCES.has(subresource),
  };
}

/** Returns whether the reply is from a pod or service behind a proxy subresource. */
export function isProxied({ subresource, verb }: RequestInfo): boolean {
  return subresource === 'proxy' || verb === 'proxy';
}

/** Returns whether `watch` is set; any first value but `false` and `0` counts, as in Kubernetes. */
function asksToWatch(query: string): boolean {
  // Fast path; a percent-encoded name takes the slow one.
  if (!query.includes('watch') && !query.includes('%')) return false;
  const value = new URLSearchParams(query).get('watch');
  if (value === null) return false;
  const lower = value.toLowerCase();
  return lower !== 'false' && lower !== '0';
}

function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 47) start++;
  while (end > start && path.charCodeAt(end - 1) === 47) end--;
  return start === end ? [] : path.slice(start, end).split('/');
}

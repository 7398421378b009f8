/** What a request asks for, told from its method, path and query alone, by the same rules as kube-apiserver. */
export interface RequestInfo {
  readonly isResource: boolean;
  /** Decoded path, as the API server's own router sees it. */
  readonly path: string;
  /** Kubernetes verb for resource requests, else the method in lower case. Empty where Kubernetes has no verb. */
  readonly verb: string;
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Watches, logs that follow, exec and the like: bounded neither in time nor by the number in flight. */
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
  subresource: '',
  name: '',
  longRunning: false,
};

const VERB_OF_METHOD: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const LONG_RUNNING_SUBRESOURCES: ReadonlySet<string> = new Set(['proxy', 'exec', 'attach', 'portforward', 'log']);

/**
 * Classifies a request. `target` is the raw path and query.
 * Returns undefined for a path that cannot be decoded, which a Go server refuses as malformed too.
 */
export function parseRequestInfo(method: string, target: string): RequestInfo | undefined {
  const mark = target.indexOf('?');
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const path = decodePath(rawPath);
  if (path === undefined) return undefined;

  const parts = splitPath(path);
  const grouped = parts[0] === 'apis';
  const resourceAt = grouped ? 3 : 2;
  if ((!grouped && parts[0] !== 'api') || parts.length <= resourceAt) {
    return { ...NON_RESOURCE, path, verb: method.toLowerCase() };
  }
  return resourceInfo(method, path, query, {
    apiPrefix: parts[0]!,
    group: grouped ? parts[1]! : '',
    version: parts[resourceAt - 1]!,
    rest: parts.slice(resourceAt),
  });
}

interface ResourcePath {
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  /** Segments after the version. */
  readonly rest: string[];
}

function resourceInfo(method: string, path: string, query: string, at: ResourcePath): RequestInfo {
  let rest = at.rest;
  let verb = VERB_OF_METHOD[method] ?? '';
  // The deprecated path prefixes /watch/… and /proxy/… carry the verb themselves.
  if ((rest[0] === 'watch' || rest[0] === 'proxy') && rest.length > 1) {
    verb = rest[0];
    rest = rest.slice(1);
  }

  let namespace = '';
  if (rest[0] === 'namespaces' && rest.length > 1) {
    namespace = rest[1]!;
    // Only `status` and `finalize` are subresources of a namespace; anything else is a resource inside it.
    if (rest.length > 2 && rest[2] !== 'status' && rest[2] !== 'finalize') rest = rest.slice(2);
  }

  const resource = rest[0] ?? '';
  const name = rest[1] ?? '';
  const subresource = verb === 'proxy' ? '' : (rest[2] ?? '');
  if (name === '' && verb === 'get') verb = asksToWatch(query) ? 'watch' : 'list';
  if (name === '' && verb === 'delete') verb = 'deletecollection';

  return {
    isResource: true,
    path,
    verb,
    apiPrefix: at.apiPrefix,
    group: at.group,
    version: at.version,
    namespace,
    resource,
    subresource,
    name,
    longRunning: verb === 'watch' || verb === 'proxy' || LONG_RUNNING_SUBRESOURCES.has(subresource),
  };
}

/** The answer is the word of whatever runs in a pod or behind a service, and says nothing about the API server. */
export function isProxied({ subresource, verb }: RequestInfo): boolean {
  return subresource === 'proxy' || verb === 'proxy';
}

/** First `watch` parameter; any value but `false` and `0` means yes, as in Kubernetes. */
function asksToWatch(query: string): boolean {
  // Quick, and right but for a name that is itself percent-encoded.
  if (!query.includes('watch') && !query.includes('%')) return false;
  const value = new URLSearchParams(query).get('watch');
  if (value === null) return false;
  const lower = value.toLowerCase();
  return lower !== 'false' && lower !== '0';
}

function decodePath(rawPath: string): string | undefined {
  if (!rawPath.includes('%')) return rawPath;
  // Go decodes byte by byte and keeps invalid UTF-8; latin1 does the same without losing a byte.
  let malformed = false;
  const decoded = rawPath.replace(/%(.{0,2})/gs, (_, hex: string) => {
    if (!/^[0-9a-fA-F]{2}$/.test(hex)) {
      malformed = true;
      return '';
    }
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
  return malformed ? undefined : decoded;
}

function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 47) start++;
  while (end > start && path.charCodeAt(end - 1) === 47) end--;
  return start === end ? [] : path.slice(start, end).split('/');
}

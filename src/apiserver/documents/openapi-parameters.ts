import type { JsonObject } from '../../kube/json.js';

const LIST = {
  allowWatchBookmarks: 'boolean',
  continue: 'string',
  fieldSelector: 'string',
  labelSelector: 'string',
  limit: 'integer',
  resourceVersion: 'string',
  resourceVersionMatch: 'string',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
} as const;
const WRITE = { dryRun: 'string', fieldManager: 'string', fieldValidation: 'string' } as const;
const DELETE = {
  dryRun: 'string',
  gracePeriodSeconds: 'integer',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'boolean',
  orphanDependents: 'boolean',
  propagationPolicy: 'string',
} as const;
const { allowWatchBookmarks: _, watch: __, ...SELECTION } = LIST;
const STREAMS = {
  container: 'string',
  stderr: 'boolean',
  stdin: 'boolean',
  stdout: 'boolean',
  tty: 'boolean',
} as const;

type Parameters = Readonly<Record<string, 'string' | 'integer' | 'boolean'>>;

/** Query parameters by `x-kubernetes-action`. kubectl reads those of patch. */
const BY_ACTION: Readonly<Record<string, Parameters>> = {
  list: LIST,
  watch: LIST,
  watchlist: LIST,
  post: WRITE,
  put: WRITE,
  patch: { ...WRITE, force: 'boolean' },
  delete: DELETE,
  deletecollection: { ...SELECTION, ...DELETE },
};

/** Listed for custom resources only, but accepted for all. */
const READ_CUSTOM: Parameters = { resourceVersion: 'string' };

/** By the kind of options of a connection; `pods/log` is a GET without a kind of options. */
const BY_KIND: Readonly<Record<string, Parameters>> = {
  PodExecOptions: { command: 'string', ...STREAMS },
  PodAttachOptions: STREAMS,
  PodPortForwardOptions: { ports: 'integer' },
  PodProxyOptions: { path: 'string' },
  NodeProxyOptions: { path: 'string' },
  ServiceProxyOptions: { path: 'string' },
  'pods/log': {
    container: 'string',
    follow: 'boolean',
    insecureSkipTLSVerifyBackend: 'boolean',
    limitBytes: 'integer',
    previous: 'boolean',
    sinceSeconds: 'integer',
    stream: 'string',
    tailLines: 'integer',
    timestamps: 'boolean',
  },
};

/**
 * Returns the parameters of an operation, sorted by name. `place`: a kind of options,
 * `<resource>/<subresource>`, `custom`.
 */
export function queryParameters(action: string, place: string): JsonObject[] {
  const isConnection = action === 'connect';
  const names: Parameters = {
    ...(Object.hasOwn(BY_ACTION, action) ? BY_ACTION[action] : {}),
    ...(Object.hasOwn(BY_KIND, place) ? BY_KIND[place] : {}),
    ...(action === 'get' && place === 'custom' ? READ_CUSTOM : {}),
    ...(isConnection ? {} : { pretty: 'string' as const }),
  };
  return sorted(Object.entries(names).map(([name, type]) => parameter(name, 'query', type)));
}

/** Returns the parameters in braces in a path. */
export function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter(name!, 'path', 'string'));
}

export function sorted(parameters: readonly JsonObject[]): JsonObject[] {
  return [...parameters].sort((left, right) => (String(left['name']) < String(right['name']) ? -1 : 1));
}

function parameter(name: string, place: 'query' | 'path', type: string): JsonObject {
  return {
    name,
    in: place,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}

import { detachedText } from '../../base/detached-text.js';
import { resourceName } from '../../kube/gvr.js';
import type { RequestInfo } from '../../kube/request-info.js';

/** The paths of API servers that are no resources, by their first segments. Other segments are made up by clients. */
const PATHS: ReadonlySet<string> = new Set([
  ...['/', '/api', '/api/v1', '/apis', '/version', '/openapi/v2', '/openapi/v3', '/metrics', '/metrics/slis'],
  ...['/healthz', '/livez', '/readyz', '/logs', '/statusz', '/flagz', '/configz', '/debug/pprof'],
  ...['/openid/v1', '/.well-known/openid-configuration'],
]);

const VERB = /^[a-z]{1,16}$/;

/** Returns `jobs.v1.batch/status`; a request for a resource that no server serves is not shown by its name. */
export function requestLabel(info: RequestInfo, isKnown: boolean): string {
  if (!info.isResource) return pathLabel(info.path);
  if (!isKnown) return 'unknown resource';
  return detachedText(info.subresource === '' ? resourceName(info) : `${resourceName(info)}/${info.subresource}`);
}

/** Returns the first one or two segments of a path, if API servers have such a path, else `other`. */
function pathLabel(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3);
  if (first === 'apis' && second !== '') return '/apis/…';
  const two = `/${first}/${second}`;
  if (PATHS.has(two)) return two;
  const one = `/${first}`;
  return PATHS.has(one) ? one : 'other';
}

/** Returns the verb as it may be shown: methods of HTTP/2 are any words. */
export function verbLabel({ verb }: RequestInfo): string {
  return VERB.test(verb) ? verb : 'other';
}

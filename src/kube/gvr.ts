/** Group, version and resource of the Kubernetes API; the core group is the empty string. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Group, version and kind of objects. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `batch/v1`, or `v1` for the core group: the form of `apiVersion` in objects. */
export function groupVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the path of a group-version: `/apis/batch/v1`, or `/api/v1` for the core group. */
export function apiPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Returns `jobs.v1.batch`, the form of kubectl and of the API server's messages. */
export function resourceName(gvr: GroupVersionResource): string {
  return gvr.group === '' ? `${gvr.resource}.${gvr.version}` : `${gvr.resource}.${gvr.version}.${gvr.group}`;
}

/** Returns a map key. No part can contain a slash, because each was one segment of a path. */
export function gvrKey(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}

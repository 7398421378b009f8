/** Group, version and resource of the Kubernetes API; the core group is the empty string. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** `batch/v1`, or `v1` for the core group: the form of `apiVersion` in objects. */
export function groupVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `jobs.v1.batch`, the way kubectl and the API server's own messages name a resource. */
export function resourceName(gvr: GroupVersionResource): string {
  return gvr.group === '' ? `${gvr.resource}.${gvr.version}` : `${gvr.resource}.${gvr.version}.${gvr.group}`;
}

/** One string for maps; none of the parts can hold a slash because each was one segment of a path. */
export function gvrKey(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}

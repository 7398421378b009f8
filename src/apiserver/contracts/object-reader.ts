import type { JsonObject } from '../../kube/json.js';

/** A resource of a group, in any version. */
export interface GroupResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
}

/**
 * Reads stored objects from the watch caches: synchronous, and perhaps some milliseconds old.
 * Objects have their storage version and their resourceVersion, and must not be changed.
 */
export interface ObjectReader {
  /** `namespace` is empty for cluster-scoped objects. */
  get(what: GroupResource, namespace: string, name: string): JsonObject | undefined;
  /** Returns the objects of a namespace, or of all, sorted by namespace and name. */
  list(what: GroupResource, namespace?: string): readonly JsonObject[];
  /** Calls back after a change of the resource. Returns a function that unsubscribes. */
  onChange(what: GroupResource, listener: () => void): () => void;
}

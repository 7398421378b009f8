import type { JsonObject } from '../../kube/json.js';

/** What is asked for: a resource of a group, whatever its version. */
export interface GroupResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
}

/**
 * What is stored, read from the watch caches: synchronous, without a trip to the store, and so perhaps some milliseconds
 * old. Objects are in the version they are stored in, with their resourceVersion, and must not be changed.
 */
export interface ObjectReader {
  /** `namespace` is empty for what has none. */
  get(what: GroupResource, namespace: string, name: string): JsonObject | undefined;
  /** Of all namespaces where none is named. In the order of namespace and name. */
  list(what: GroupResource, namespace?: string): readonly JsonObject[];
  /** Calls back after something of that resource has changed; returns how to take that back. */
  onChange(what: GroupResource, listener: () => void): () => void;
}

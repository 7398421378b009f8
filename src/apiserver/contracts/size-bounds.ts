/** As in kube-apiserver. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;

/**
 * Bound on the values in one body: members of objects and items of lists. kube-apiserver has no
 * such bound, but etcd accepts only 1.5 MiB. An object with less than 25 bytes per value only costs
 * CPU: one pass over so many values takes some tens of milliseconds, and a write takes about twenty
 * passes.
 */
export const BODY_VALUES_MAX = 60_000;

/** Bounds on an object as JSON: those of bodies, because clients send back what they read. */
export const OBJECT_BYTES_MAX = BODY_BYTES_MAX;
export const OBJECT_VALUES_MAX = BODY_VALUES_MAX;

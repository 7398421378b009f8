/** As in kube-apiserver. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;

/**
 * Values in one body: each member of an object and each item of a list is one. kube-apiserver has no such bound, but its store
 * has: etcd takes requests of 1.5 MiB. With less than 25 bytes for each value an object is made for nothing but to keep a
 * server at work: each pass over so many values takes some tens of milliseconds, and a write takes about twenty passes.
 */
export const BODY_VALUES_MAX = 60_000;

/** Of an object as JSON. What a client reads it must be able to send back, so these are the same as for bodies. */
export const OBJECT_BYTES_MAX = BODY_BYTES_MAX;
export const OBJECT_VALUES_MAX = BODY_VALUES_MAX;

/** As in kube-apiserver. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;

/**
 * Values in one body: each object, list, text, number, true, false and null is one. kube-apiserver has no such bound, but
 * its store has: etcd takes requests of 1.5 MiB, and objects with less than 8 bytes for each value exist only to make a
 * server work.
 */
export const BODY_VALUES_MAX = 200_000;

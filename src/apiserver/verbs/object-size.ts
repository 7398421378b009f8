import type { Json, JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { OBJECT_BYTES_MAX, OBJECT_VALUES_MAX } from '../contracts/size-bounds.js';

/**
 * Throws RequestEntityTooLarge for an object that is too large to be stored: with defaults, an item of
 * three bytes can take hundreds. Stops at the bounds.
 */
export function checkObjectSize(object: JsonObject): void {
  if (!isLarger(object)) return;
  throw new StatusError(
    'RequestEntityTooLarge',
    `Request entity too large: an object is limited to ${OBJECT_BYTES_MAX} bytes and ${OBJECT_VALUES_MAX} values`,
  );
}

/** Counts characters instead of bytes, which is exact enough for a bound on work. */
function isLarger(object: JsonObject): boolean {
  const open: Json[] = [object];
  let bytes = 0;
  let values = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) {
      values += value.length;
      bytes += value.length + 2;
      if (values > OBJECT_VALUES_MAX) return true;
      for (const item of value) {
        if (typeof item === 'object' && item !== null) open.push(item);
        else bytes += charsOf(item);
      }
    } else {
      const names = Object.keys(value as JsonObject);
      values += names.length;
      bytes += 2;
      if (values > OBJECT_VALUES_MAX) return true;
      for (const name of names) {
        const item = (value as JsonObject)[name]!;
        bytes += name.length + 4;
        if (typeof item === 'object' && item !== null) open.push(item);
        else bytes += charsOf(item);
      }
    }
    if (bytes > OBJECT_BYTES_MAX) return true;
  }
  return false;
}

function charsOf(scalar: null | boolean | number | string): number {
  return typeof scalar === 'string' ? scalar.length + 2 : 4;
}

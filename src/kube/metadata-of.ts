import { isObject, type JsonObject, member } from './json.js';

/** Empty where an object has none, whatever else stands in its place. */
export function metadataOf(object: JsonObject): JsonObject {
  const metadata = member(object, 'metadata');
  return isObject(metadata) ? metadata : {};
}

export function nameOf(object: JsonObject): string {
  const name = metadataOf(object)['name'];
  return typeof name === 'string' ? name : '';
}

import { type JsonObject, objectMember } from './json.js';

/** Returns the metadata of an object; an empty object if it is missing or malformed. */
export function metadataOf(object: JsonObject): JsonObject {
  return objectMember(object, 'metadata');
}

export function nameOf(object: JsonObject): string {
  const name = metadataOf(object)['name'];
  return typeof name === 'string' ? name : '';
}

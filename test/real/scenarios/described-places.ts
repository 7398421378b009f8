import { isObject, type Json, type JsonObject, objectMember } from '../../../src/kube/json.js';

/** Parameters of features that Straddle does not serve. */
const NOT_SERVED = new Set(['shardSelector']);
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** Returns the descriptions of types, fields and parameters of an OpenAPI v3 document, by the place where they stand. */
export function describedPlaces(document: JsonObject): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, schema] of Object.entries(objectMember(objectMember(document, 'components'), 'schemas'))) {
    collect(schema, name, found);
  }
  for (const [path, item] of Object.entries(objectMember(document, 'paths'))) {
    if (!isObject(item)) continue;
    const shared = parametersOf(item, path);
    for (const method of METHODS) {
      const operation = item[method];
      if (!isObject(operation)) continue;
      // Servers differ in which parameters they list once for the whole path.
      for (const [place, text] of [...shared, ...parametersOf(operation, path)]) found.set(`${method} ${place}`, text);
    }
  }
  return found;
}

function collect(value: Json, place: string, found: Map<string, string>): void {
  if (Array.isArray(value)) for (const each of value) collect(each, place, found);
  if (!isObject(value)) return;
  if (typeof value['description'] === 'string' && value['description'] !== '') found.set(place, value['description']);
  for (const [name, field] of Object.entries(objectMember(value, 'properties')))
    collect(field, `${place}.${name}`, found);
  for (const name of ['items', 'additionalProperties']) collect(value[name] ?? null, `${place}.${name}`, found);
}

function parametersOf({ parameters }: JsonObject, path: string): [place: string, text: string][] {
  if (!Array.isArray(parameters)) return [];
  return parameters
    .filter(isObject)
    .filter(({ name, description }) => !NOT_SERVED.has(String(name)) && typeof description === 'string')
    .map(({ name, in: where, description }) => [`${path} ${where} ${name}`, String(description)]);
}

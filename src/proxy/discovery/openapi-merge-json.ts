import { isObject, type Json, type JsonObject, member, setMember } from '../../kube/json.js';

/**
 * Depth to which members of an OpenAPI document are merged: `paths` down to the operation,
 * `definitions` (v2) and every section of `components` (v3) down to the name. Other members have
 * the value of the first document.
 */
const UNION_DEPTH: ReadonlyMap<string, number> = new Map([
  ['paths', 2],
  ['definitions', 1],
  ['components', 2],
  ['securityDefinitions', 1],
  ['parameters', 1],
  ['responses', 1],
]);

/** Parses a document; undefined if `text` is not OpenAPI v2 or v3. */
export function parseOpenApi(text: string): JsonObject | undefined {
  try {
    const document: unknown = JSON.parse(text);
    if (!isObject(document)) return undefined;
    const versioned = typeof document['openapi'] === 'string' || typeof document['swagger'] === 'string';
    return versioned && (document['paths'] === undefined || isObject(document['paths'])) ? document : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the union of the documents of several servers, with precedence for the first. Top-level
 * members have the order of the first document, then of the others.
 */
export function mergeOpenApi(documents: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {};
  for (const name of new Set(documents.flatMap((document) => Object.keys(document)))) {
    const values = documents.map((document) => member(document, name)).filter((value) => value !== undefined);
    setMember(merged, name, union(values, UNION_DEPTH.get(name) ?? 0));
  }
  return merged;
}

/** Merges members, sorted by name like maps in Go: every server must make the same bytes. */
function union(values: readonly Json[], depth: number): Json {
  const objects = values.filter(isObject);
  if (depth === 0 || objects.length < 2) return values[0]!;
  const merged: JsonObject = {};
  for (const name of [...new Set(objects.flatMap((object) => Object.keys(object)))].sort()) {
    const found = objects.filter((object) => Object.hasOwn(object, name)).map((object) => object[name]!);
    setMember(merged, name, union(found, depth - 1));
  }
  return merged;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Depth to which members of an OpenAPI document are merged: `paths` down to the operation,
 * `definitions` (v2) and every section of `components` (v3) down to the name. Other members have
 * the value of the first document.
 */
const UNION_DEPTH: Readonly<Record<string, number>> = {
  paths: 2,
  definitions: 1,
  components: 2,
  securityDefinitions: 1,
  parameters: 1,
  responses: 1,
};

/** Parses a document; undefined if `text` is not OpenAPI v2 or v3. */
export function parseOpenApi(text: string): Json | undefined {
  try {
    const document: unknown = JSON.parse(text);
    if (!isObject(document)) return undefined;
    const versioned = typeof document['openapi'] === 'string' || typeof document['swagger'] === 'string';
    return versioned && (document['paths'] === undefined || isObject(document['paths'])) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the union of the documents of several servers, with precedence for the first. */
export function mergeOpenApi(documents: readonly Json[]): Json {
  const merged: Record<string, unknown> = {};
  for (const name of namesOf(documents)) {
    const values = documents.map((document) => document[name]).filter((value) => value !== undefined);
    define(merged, name, union(values, UNION_DEPTH[name] ?? 0));
  }
  return merged;
}

/** Merges members, sorted by name like maps in Go: every server must make the same bytes. */
function union(values: readonly unknown[], depth: number): unknown {
  const objects = values.filter(isObject);
  if (depth === 0 || objects.length < 2) return values[0];
  const merged: Record<string, unknown> = {};
  for (const name of [...new Set(objects.flatMap((object) => Object.keys(object)))].sort()) {
    const found = objects.filter((object) => Object.hasOwn(object, name)).map((object) => object[name]);
    define(merged, name, union(found, depth - 1));
  }
  return merged;
}

/** Returns the top-level members, in the order of the first document, then those of the others. */
function namesOf(documents: readonly Json[]): readonly string[] {
  return [...new Set(documents.flatMap((document) => Object.keys(document)))];
}

/** Sets a member. `__proto__` is data here, not the prototype. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, writable: true });
  else target[name] = value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

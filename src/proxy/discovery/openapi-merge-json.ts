type Json = Readonly<Record<string, unknown>>;

/**
 * Which members of an OpenAPI document are unions, and how deep: `paths` down to the operation, `definitions` (v2) and
 * every section of `components` (v3) down to the name. Whatever is not listed has one value, the first document's.
 */
const UNION_DEPTH: Readonly<Record<string, number>> = {
  paths: 2,
  definitions: 1,
  components: 2,
  securityDefinitions: 1,
  parameters: 1,
  responses: 1,
};

/** Undefined where `text` is no OpenAPI document of either version. */
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

/** The union of documents that describe one thing on several servers; where they differ the first has the say. */
export function mergeOpenApi(documents: readonly Json[]): Json {
  const merged: Record<string, unknown> = {};
  for (const name of namesOf(documents)) {
    const values = documents.map((document) => document[name]).filter((value) => value !== undefined);
    define(merged, name, union(values, UNION_DEPTH[name] ?? 0));
  }
  return merged;
}

/** Members in order of their names, as Go writes maps: every server must make the same bytes. */
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

/** Top-level members in the first document's order; what only others have comes after. */
function namesOf(documents: readonly Json[]): readonly string[] {
  return [...new Set(documents.flatMap((document) => Object.keys(document)))];
}

/** A member called `__proto__` is data here, not the object's prototype. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, writable: true });
  else target[name] = value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { isObject, type Json, type JsonObject, member, objectMember } from '../../kube/json.js';
import { SCHEMA_LEVELS_MAX } from '../schema/custom-resource-schema.js';
import { listIn } from './definition.js';

/** Bound on the parts of a schema, because every request visits all of them. */
const SCHEMA_PARTS_MAX = 100_000;

const ONE = ['items', 'not', 'additionalProperties', 'additionalItems'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'items'];
const MAPS = ['properties', 'patternProperties', 'definitions', 'dependencies'];

/** Returns the schemas in a member of a schema with their paths: `items`, `allOf[0]`, `properties[a]`. */
export function schemasIn(openApi: JsonObject, name: string): [path: string, schema: JsonObject][] {
  const value = member(openApi, name);
  if (ONE.includes(name)) return isObject(value) ? [[name, value]] : [];
  const isThere = LISTS.includes(name) ? Array.isArray(value) : isObject(value);
  // The keys of a list are its indices.
  return Object.entries(isThere ? (value as JsonObject) : {}).flatMap(([key, each]) =>
    isObject(each) ? [[`${name}[${key}]`, each] as [string, JsonObject]] : [],
  );
}

function subSchemas(openApi: JsonObject): JsonObject[] {
  const found: (Json | undefined)[] = ONE.map((name) => member(openApi, name));
  for (const name of LISTS) for (const each of listIn(openApi, name)) found.push(each);
  for (const name of MAPS) for (const each of Object.values(objectMember(openApi, name))) found.push(each);
  return found.filter(isObject);
}

/** Calls back for a schema and all below it, without recursion. Returns false if they are too many or too deep. */
export function visitSchemas(root: JsonObject, visit: (openApi: JsonObject) => void): boolean {
  let level: JsonObject[] = [root];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length;
    if (depth > SCHEMA_LEVELS_MAX || count > SCHEMA_PARTS_MAX) return false;
    const next: JsonObject[] = [];
    for (const each of level) {
      visit(each);
      for (const below of subSchemas(each)) next.push(below);
    }
    level = next;
  }
  return true;
}

/** Returns the message about a schema that is too large or too deep to be examined. */
export function sizeProblem(openApi: JsonObject): string | undefined {
  return visitSchemas(openApi, () => {})
    ? undefined
    : `must not be deeper than ${SCHEMA_LEVELS_MAX} levels or have more than ${SCHEMA_PARTS_MAX} parts`;
}

import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { SCHEMA_LEVELS_MAX } from '../schema/custom-resource-schema.js';

/** Schemas of more parts are refused: every one is looked at in every request. */
export const SCHEMA_PARTS_MAX = 100_000;

const ONE = ['items', 'not', 'additionalProperties', 'additionalItems'] as const;
const LISTS = ['allOf', 'anyOf', 'oneOf', 'items'] as const;
const MAPS = ['properties', 'patternProperties', 'definitions', 'dependencies'] as const;

/** The schemas directly below one, wherever they may stand. */
export function subSchemas(openApi: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  const take = (value: Json | undefined): void => {
    if (isObject(value)) found.push(value);
  };
  for (const name of ONE) take(member(openApi, name));
  for (const name of LISTS) {
    const value = member(openApi, name);
    if (Array.isArray(value)) for (const each of value) take(each);
  }
  for (const name of MAPS) {
    const value = member(openApi, name);
    if (isObject(value)) for (const key of Object.keys(value)) take(value[key]);
  }
  return found;
}

/** Calls back for a schema and all below it, without recursion. False where there are too many, or they are too deep. */
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

/** Why a schema is not looked at any further, or undefined. */
export function sizeProblem(openApi: JsonObject): string | undefined {
  return visitSchemas(openApi, () => {})
    ? undefined
    : `must not be deeper than ${SCHEMA_LEVELS_MAX} levels or have more than ${SCHEMA_PARTS_MAX} parts`;
}

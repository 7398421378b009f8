import { isObject, type JsonObject, member } from '../../kube/json.js';
import { objectIn } from './definition.js';

export interface FoundField {
  /** The normalized path: `spec.a` or `spec.map[key]`. */
  readonly path: string;
  readonly root: string;
  /** Undefined if the field has no schema. */
  readonly openApi: JsonObject | undefined;
}

/**
 * Returns the field of a schema at a path such as `.spec.a` or `['a.b']`, or the message of
 * kube-apiserver about the path. Only members of objects and maps can be reached.
 */
export function findField(jsonPath: string, openApi: JsonObject, allowsBrackets: boolean): FoundField | string {
  const tokens = tokensOf(jsonPath);
  let found: FoundField = { path: '', root: '', openApi };
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    let name: string;
    if (token === '.') {
      const next = tokens[++index];
      if (next === undefined) return 'unexpected end of JSON path';
      name = next;
    } else if (token === '[') {
      if (!allowsBrackets) return 'array notation is not allowed';
      const [quoted, close] = [tokens[++index], tokens[++index]];
      if (quoted === undefined) return 'unexpected end of JSON path';
      if (!/^'.*'$/s.test(quoted) || quoted.length < 2) return `expected single quoted string but got ${quoted}`;
      if (close === undefined) return 'unexpected end of JSON path';
      if (close !== ']') return `expected ] but got ${close}`;
      name = quoted.slice(1, -1).replace(/\\(.)/gs, '$1');
    } else {
      return `expected [ or . but got: ${token}`;
    }
    const next = step(found, name);
    if (next === undefined) return 'does not refer to a valid field';
    found = next;
  }
  return found;
}

function step({ path, root, openApi }: FoundField, name: string): FoundField | undefined {
  if (openApi === undefined) return undefined;
  const properties = objectIn(openApi, 'properties');
  if (properties !== undefined && Object.keys(properties).length > 0) {
    const next = member(properties, name);
    if (!isObject(next)) return undefined;
    return { path: path === '' ? name : `${path}.${name}`, root: root === '' ? name : root, openApi: next };
  }
  const additional = member(openApi, 'additionalProperties');
  if (additional === undefined || additional === null) return undefined;
  const below = isObject(additional) ? additional : undefined;
  return { path: `${path}[${name}]`, root: root === '' ? `[${name}]` : root, openApi: below };
}

/** Splits at dots and brackets outside of quotes. */
function tokensOf(text: string): string[] {
  return text.match(/'(?:\\.|[^'\\])*'|[.[\]]|[^.[\]]+/gs) ?? [];
}

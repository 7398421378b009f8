import type { Schema } from '../schema/schema.js';

const PART = /\.([^.[\]]+)|\['((?:[^'\\]|\\[abfnrtv'\\])*)'\]/y;
const ESCAPES: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/**
 * Converts the `fieldPath` of a rule to the path of problems. Undefined if the schema has no such field:
 * a path may contain named properties and keys of maps, but no items of lists.
 */
export function fieldPathOf(text: string, schema: Schema): string | undefined {
  let path = '';
  let at: Schema = schema;
  let end = 0;
  while (end < text.length) {
    PART.lastIndex = end;
    const match = PART.exec(text);
    if (match === null) return undefined;
    end = PART.lastIndex;
    const name = match[1] ?? unescaped(match[2]!);
    const { properties, values }: Schema = at;
    if (properties !== undefined) {
      if (!Object.hasOwn(properties, name)) return undefined;
      path += path === '' ? name : `.${name}`;
      at = properties[name]!;
    } else if (values !== undefined) {
      path += `[${name}]`;
      at = values;
    } else return undefined;
  }
  return path === '' ? undefined : path;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);
}

import type { Json } from '../../kube/json.js';
import { goQuote } from '../values/go-quote.js';
import { goJson } from './go-values.js';
import type { Schema } from './schema.js';

/** The values that an `enum` allows, made to be asked for many items: definitions have had thousands of them. */
export interface EnumValues {
  has(value: Json): boolean;
  /** As messages list them; made when the first is written. */
  readonly text: string;
}

const known = new WeakMap<Schema, EnumValues>();

/** Undefined where the schema allows any value. */
export function enumValuesOf(schema: Schema): EnumValues | undefined {
  if (schema.enum === undefined) return undefined;
  let values = known.get(schema);
  if (values === undefined) {
    values = enumValues(schema.enum);
    known.set(schema, values);
  }
  return values;
}

function enumValues(allowed: readonly Json[]): EnumValues {
  const scalars = new Set<Json>();
  const others = new Set<string>();
  let text: string | undefined;
  for (const each of allowed) {
    if (typeof each === 'object' && each !== null) others.add(goJson(each));
    else scalars.add(each);
  }
  return {
    has: (value) => (typeof value === 'object' && value !== null ? others.has(goJson(value)) : scalars.has(value)),
    get text() {
      text ??= allowed.map((each) => goQuote(typeof each === 'string' ? each : goJson(each))).join(', ');
      return text;
    },
  };
}

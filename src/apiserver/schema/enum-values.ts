import type { Json } from '../../api/json.js';
import { goJson } from './go-values.js';
import type { Schema } from './schema.js';

/** The values that an `enum` allows, made to be asked for many items: definitions have had thousands of them. */
export interface EnumValues {
  has(value: Json): boolean;
  /** As messages list them. */
  readonly texts: readonly string[];
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
  for (const each of allowed) {
    if (typeof each === 'object' && each !== null) others.add(goJson(each));
    else scalars.add(each);
  }
  return {
    has: (value) => (typeof value === 'object' && value !== null ? others.has(goJson(value)) : scalars.has(value)),
    texts: allowed.map((each) => (typeof each === 'string' ? each : goJson(each))),
  };
}

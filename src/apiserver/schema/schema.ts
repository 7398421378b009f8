import type { Json } from '../../kube/json.js';

/**
 * The structure of a value: what pruning, defaulting, validation, patches and server-side apply have to know of a type,
 * for built-in kinds (from a surface) and custom resources (from their definition) alike. Immutable once made. May be
 * cyclic, and members may be inherited from a shared type: read members by name, never copy a schema with a spread.
 */
export interface Schema {
  /** The name in OpenAPI of a built-in type, on the type itself. */
  readonly typeName?: string;
  /** Absent: any value. */
  readonly type?: SchemaType;
  /** `int32`, `int64`, `double`, `byte`, `date-time`, `int-or-string`, `quantity` and others. */
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  /** Of members that `properties` does not name (`additionalProperties`). */
  readonly values?: Schema;
  /** Such members are not pruned, but refused (`additionalProperties: false`). */
  readonly forbidsOthers?: boolean;
  readonly items?: Schema;
  /** Lists are atomic unless they say otherwise. */
  readonly listType?: 'atomic' | 'set' | 'map';
  /** What tells the items of a list of type map apart. */
  readonly listKeys?: readonly string[];
  /** Objects are granular unless they say otherwise. */
  readonly mapType?: 'atomic' | 'granular';
  /** Strategic merge patch: `merge`, `replace`, `retainKeys`, several joined by a comma. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  /** Members that are not named stay, and everything below them. */
  readonly preserveUnknownFields?: boolean;
  /** A whole object of the API, with `apiVersion`, `kind` and `metadata`. */
  readonly embeddedResource?: boolean;
  readonly limits?: SchemaLimits;
  /** CEL rules of a custom resource (`x-kubernetes-validations`). */
  readonly rules?: readonly SchemaRule[];
  /** Further demands on the value, never further structure: only validation looks at these. */
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  /** What a definition demands of a value that otherwise has a built-in type (`metadata`). */
  readonly restrictions?: Schema;
}

export interface SchemaRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** What only custom resources say. */
export interface SchemaLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
}

/** A free-form value: objects below it are granular, lists atomic. */
export const ANY: Schema = {};

/** The schema of one member of an object; undefined when the object cannot have it. */
export function memberSchema(schema: Schema, name: string): Schema | undefined {
  const { properties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  if (schema.values !== undefined) return schema.values;
  return isFreeForm(schema) ? ANY : undefined;
}

/** Objects with nothing declared hold anything, as do those that say so. */
export function isFreeForm(schema: Schema): boolean {
  if (schema.preserveUnknownFields === true) return true;
  return schema.properties === undefined && schema.values === undefined && (schema.type ?? 'object') === 'object';
}

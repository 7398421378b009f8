import type { Json } from '../../kube/json.js';

/**
 * The structure of a value, for pruning, defaulting, validation, patches and server-side apply, both of
 * built-in kinds (from a surface) and of custom resources (from their definition). A schema is
 * immutable. It may be cyclic, and members may be inherited from a shared type: read members by name,
 * never copy a schema with a spread.
 */
export interface Schema {
  /** The name in OpenAPI of a built-in type, on the type itself. */
  readonly typeName?: string;
  /** A missing type allows any value. */
  readonly type?: SchemaType;
  /** `int32`, `int64`, `double`, `byte`, `date-time`, `int-or-string`, `quantity` and others. */
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  /** The schema of members that `properties` does not name (`additionalProperties`). */
  readonly values?: Schema;
  /** Members that `properties` does not name are not pruned, but refused (`additionalProperties: false`). */
  readonly forbidsOthers?: boolean;
  readonly items?: Schema;
  /** `atomic` by default. */
  readonly listType?: 'atomic' | 'set' | 'map';
  /** The members that identify the items of a list of type map. */
  readonly listKeys?: readonly string[];
  /** `granular` by default. */
  readonly mapType?: 'atomic' | 'granular';
  /** Strategic merge patch: `merge`, `replace`, `retainKeys`, several joined by a comma. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  /** Members that are not named are kept, with everything inside them. */
  readonly preserveUnknownFields?: boolean;
  /** A whole object of the API, with `apiVersion`, `kind` and `metadata`. */
  readonly embeddedResource?: boolean;
  readonly limits?: SchemaLimits;
  /** CEL rules of a custom resource (`x-kubernetes-validations`). */
  readonly rules?: readonly SchemaRule[];
  /** Further constraints, which only validation uses; they add no structure. */
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  /** Constraints of a definition on a value of a built-in type (`metadata`). */
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

/** Constraints that only custom resources have. */
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

/** A free-form value: objects inside it are granular, lists atomic. */
export const ANY: Schema = {};

/** The schema of one member of an object; undefined when the object cannot have it. */
export function memberSchema(schema: Schema, name: string): Schema | undefined {
  const { properties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  if (schema.values !== undefined) return schema.values;
  return isFreeForm(schema) ? ANY : undefined;
}

/** Whether an object may have any members: it declares none, or preserves unknown ones. */
export function isFreeForm(schema: Schema): boolean {
  if (schema.preserveUnknownFields === true) return true;
  return schema.properties === undefined && schema.values === undefined && (schema.type ?? 'object') === 'object';
}

/**
 * Calls `visit` for a value of a custom resource and for every value inside it that the schema
 * describes, outer ones first, until it returns false. Built-in types are left out.
 */
export function walkValues(
  value: Json,
  schema: Schema,
  path: string,
  visit: (value: Json, schema: Schema, path: string) => boolean,
): boolean {
  if (schema.typeName !== undefined || typeof value !== 'object' || value === null) return true;
  if (!visit(value, schema, path)) return false;
  const { items, properties, values } = schema;
  if (Array.isArray(value)) {
    return items === undefined || value.every((each, index) => walkValues(each, items, `${path}[${index}]`, visit));
  }
  return Object.keys(value).every((name) => {
    if (properties !== undefined && Object.hasOwn(properties, name)) {
      return walkValues(value[name]!, properties[name]!, path === '' ? name : `${path}.${name}`, visit);
    }
    return values === undefined || walkValues(value[name]!, values, `${path}[${name}]`, visit);
  });
}

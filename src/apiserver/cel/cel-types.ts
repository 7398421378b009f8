type TypeKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'struct'
  | 'type'
  | 'optional'
  | 'opaque'
  | 'dyn'
  | 'error'
  | 'param';

export interface CelType {
  readonly kind: TypeKind;
  /** The name in messages. */
  readonly name: string;
  readonly params: readonly CelType[];
  /** The fields of a struct, by the name that expressions use. */
  readonly fields?: ReadonlyMap<string, CelField>;
  /** The facts of the schema that describes the value. */
  readonly declared?: Declared;
}

export interface CelField {
  /** The name in the object: `a-b` is `a__dash__b` in expressions. */
  readonly name: string;
  readonly type: CelType;
  /** Another way to write a name: `namespace` for `__namespace__`. */
  readonly isAlias?: boolean;
}

/** Facts of a schema beyond the type of a value: how to compare lists, and how large the value can be. */
export interface Declared {
  /** The most characters, items or members that a request can hold. */
  readonly elementsMax: number;
  /** The shortest JSON of such a value. */
  readonly bytesMin: number;
  readonly listType?: 'set' | 'map';
  readonly listKeys?: readonly string[];
  /** Whether a timestamp is written as a date. */
  readonly isDate?: boolean;
}

function simple(kind: TypeKind, name: string = kind): CelType {
  return { kind, name, params: [] };
}

export const BOOL = simple('bool');
export const INT = simple('int');
export const UINT = simple('uint');
export const DOUBLE = simple('double');
export const STRING = simple('string');
export const BYTES = simple('bytes');
export const NULL = simple('null');
export const TIMESTAMP = simple('timestamp');
export const DURATION = simple('duration');
export const DYN = simple('dyn');
export const ERROR = simple('error', '!error!');
export const URL = simple('opaque', 'kubernetes.URL');
export const QUANTITY = simple('opaque', 'kubernetes.Quantity');
export const IP = simple('opaque', 'net.IP');
export const CIDR = simple('opaque', 'net.CIDR');
export const FORMAT = simple('opaque', 'kubernetes.NamedFormat');
export const SEMVER = simple('opaque', 'kubernetes.Semver');

/** Types whose name in a signature is that of their kind. */
export const SIMPLE_TYPES = [BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, TIMESTAMP, DURATION, DYN];

export function listOf(item: CelType): CelType {
  return { kind: 'list', name: 'list', params: [item] };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', params: [key, value] };
}

export function typeOfType(type: CelType): CelType {
  return { kind: 'type', name: 'type', params: [type] };
}

export function optionalOf(type: CelType): CelType {
  return { kind: 'optional', name: 'optional_type', params: [type] };
}

export function param(name: string): CelType {
  return { kind: 'param', name, params: [] };
}

export function formatType(type: CelType): string {
  if (type.params.length === 0) return type.name;
  return `${type.name}(${type.params.map(formatType).join(', ')})`;
}

export function isDynamic(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

export function sameType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind || left.name !== right.name || left.params.length !== right.params.length) return false;
  // Structs of the same name are the same type only if they share the declaration.
  if (left.kind === 'struct') return left.fields === right.fields;
  return left.params.every((each, index) => sameType(each, right.params[index]!));
}

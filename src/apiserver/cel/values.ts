import type { Quantity } from '../values/quantity.js';

/**
 * The values of expressions. An int is a number if it is a safe integer, and a bigint otherwise, never
 * the other way round. Doubles and unsigned ints are objects, so that the common int needs no
 * allocation.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | CelDouble
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelList
  | MapValue
  | CelTypeValue
  | CelOptional
  | CelOpaque;

export type CelInt = number | bigint;

export class CelDouble {
  constructor(readonly value: number) {}
}

export class CelUint {
  constructor(readonly value: bigint) {}
}

export class CelTimestamp {
  constructor(
    /** Nanoseconds since 1970. */
    readonly nanos: bigint,
    /** The offset of the zone it was written with, which only its text shows. */
    readonly offsetMinutes = 0,
  ) {}
}

export class CelDuration {
  constructor(readonly nanos: bigint) {}
}

export class CelTypeValue {
  constructor(readonly name: string) {}
}

export class CelOptional {
  constructor(readonly value: Value | undefined) {}
}

export const NONE = new CelOptional(undefined);

export class CelList {
  constructor(
    readonly items: readonly Value[],
    /** By the schema: the list is compared and added as a set, or by the keys of its items. */
    readonly listType?: 'set' | 'map',
    readonly listKeys: readonly string[] = [],
  ) {}
}

export type MapKey = string | boolean | number | bigint;

/** A map, or an object of a schema, which behaves as a map at run time. */
export abstract class MapValue {
  abstract readonly size: number;
  abstract find(key: Value): Value | undefined;
  abstract keys(): Value[];
}

/** A map that an expression created. */
export class CelMap extends MapValue {
  readonly #entries: ReadonlyMap<MapKey, readonly [key: Value, value: Value]>;

  constructor(entries: ReadonlyMap<MapKey, readonly [key: Value, value: Value]>) {
    super();
    this.#entries = entries;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: Value): Value | undefined {
    const wanted = mapKey(key);
    return wanted === undefined ? undefined : this.#entries.get(wanted)?.[1];
  }

  keys(): Value[] {
    return [...this.#entries.values()].map(([key]) => key);
  }
}

/** The key of a value in a map; equal numbers of all types are the same key. */
export function mapKey(key: Value): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' || typeof key === 'bigint') {
    return key;
  }
  if (key instanceof CelUint) return intFrom(key.value);
  if (key instanceof CelDouble && Number.isInteger(key.value)) return intFrom(BigInt(key.value));
  return undefined;
}

/** An int of 64 bits in its one form. */
export function intFrom(value: bigint): CelInt {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
export const UINT_MAX = 2n ** 64n - 1n;

/** A value of one of the libraries of Kubernetes. */
type CelOpaque = CelQuantity | CelUrl | CelIp | CelCidr | CelFormat | CelSemver;

export class CelQuantity {
  readonly typeName = 'kubernetes.Quantity';
  constructor(
    readonly quantity: Quantity,
    /** Whether it was written without a fraction: kube-apiserver takes neither `1.0` nor `1000m` for an integer. */
    readonly isWhole: boolean,
  ) {}
}

export class CelUrl {
  readonly typeName = 'kubernetes.URL';
  constructor(readonly parts: UrlParts) {}
}

export interface UrlParts {
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly query: string;
}

export class CelIp {
  readonly typeName = 'net.IP';
  /** Four bytes for IPv4, sixteen for IPv6. */
  constructor(readonly bytes: Uint8Array) {}
}

export class CelCidr {
  readonly typeName = 'net.CIDR';
  constructor(
    readonly address: CelIp,
    readonly prefixBits: number,
  ) {}
}

export class CelFormat {
  readonly typeName = 'kubernetes.NamedFormat';
  constructor(
    readonly name: string,
    readonly problems: (text: string) => string[],
    readonly patternLength: number,
  ) {}
}

export class CelSemver {
  readonly typeName = 'kubernetes.Semver';
  constructor(
    readonly major: bigint,
    readonly minor: bigint,
    readonly patch: bigint,
    readonly prerelease: readonly string[],
  ) {}
}

/** The kind of a value at run time, as in `CelType.kind`, or the name of its type when it is opaque. */
export function kindOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
  }
  if (value === null) return 'null';
  if (value instanceof CelList) return 'list';
  if (value instanceof MapValue) return 'map';
  if (value instanceof CelDouble) return 'double';
  if (value instanceof CelOptional) return 'optional';
  if (value instanceof CelTimestamp) return 'timestamp';
  if (value instanceof CelDuration) return 'duration';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CelTypeValue) return 'type';
  return value.typeName;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  optional: 'optional_type',
};

/** The name that `type()` returns for a value. */
export function typeNameOf(value: Value): string {
  const kind = kindOf(value);
  return TYPE_NAMES[kind] ?? kind;
}

/** The size of a value, on which the cost of reading it depends. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof CelList) return value.items.length;
  if (value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional && value.value !== undefined) return sizeOf(value.value);
  if (value instanceof CelIp) return value.bytes.length;
  if (value instanceof CelCidr) return value.address.bytes.length;
  return 1;
}

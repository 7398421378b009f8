import type { Quantity } from '../values/quantity.js';

/**
 * What expressions compute with. An int is a number as long as it is a safe integer and a bigint beyond, always in this one
 * form; so that the common case needs no allocation, doubles and unsigned numbers are the ones in a box.
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
    /** Of the zone it was written with, which only its text shows. */
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
    /** Lists of a schema that say so are compared and added as sets, or by the keys of their items. */
    readonly listType?: 'set' | 'map',
    readonly listKeys: readonly string[] = [],
  ) {}
}

export type MapKey = string | boolean | number | bigint;

/** Maps, and objects of a schema, which behave as maps at run time. */
export abstract class MapValue {
  abstract readonly size: number;
  abstract find(key: Value): Value | undefined;
  abstract keys(): Value[];
}

/** What an expression made. */
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

/** Numbers of every type that are equal are the same key. */
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

/** A value of one of Kubernetes' own libraries. */
export type CelOpaque = CelQuantity | CelUrl | CelIp | CelCidr | CelFormat | CelSemver;

export class CelQuantity {
  readonly typeName = 'kubernetes.Quantity';
  constructor(
    readonly quantity: Quantity,
    /** Written without a fraction. kube-apiserver takes no other for an integer: not `1.0`, not `1000m`. */
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
  /** Four bytes or sixteen. */
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

/** What `type()` says of a value. */
export function typeNameOf(value: Value): string {
  const kind = kindOf(value);
  return TYPE_NAMES[kind] ?? kind;
}

/** How much there is of a value, for what it costs to look at it. */
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

import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { type CelField, type CelType, DYN } from './cel-types.js';
import { fail, noSuchOverload } from './failure.js';
import { parseDuration, parseTimestamp } from './time-text.js';
import { CelDouble, CelList, MapValue, type Value } from './values.js';

/**
 * Converts a part of an object by the type of its schema. Members of objects and maps are converted on
 * first use and cached, so that a loop does not convert them again.
 */
export function typedValue(raw: Json, type: CelType): Value {
  if (raw === null) return null;
  switch (type.kind) {
    case 'bool':
    case 'string':
    case 'int':
      return typeof raw === 'object' ? dynamicValue(raw) : scalar(raw);
    case 'double':
      return typeof raw === 'number' ? new CelDouble(raw) : dynamicValue(raw);
    case 'struct':
      return isObject(raw) ? new StructValue(raw, type) : invalid('a map', 'object');
    case 'map':
      return isObject(raw) ? new JsonMap(raw, type.params[1]!) : invalid('a map', 'object');
    case 'list':
      return Array.isArray(raw) ? listValue(raw, type) : invalid('an array', 'array');
    case 'timestamp':
      return typeof raw === 'string' ? timestampOf(raw, type) : noSuchOverload();
    case 'duration':
      return typeof raw === 'string' ? parseDuration(raw) : noSuchOverload();
    case 'bytes':
      return typeof raw === 'string' ? Uint8Array.from(Buffer.from(raw, 'base64')) : noSuchOverload();
    default:
      return dynamicValue(raw);
  }
}

/** Converts JSON without a schema. */
export function dynamicValue(raw: Json): Value {
  if (typeof raw !== 'object' || raw === null) return raw === null ? null : scalar(raw);
  if (Array.isArray(raw)) return new CelList(raw.map(dynamicValue));
  return new JsonMap(raw, DYN);
}

function scalar(raw: string | number | boolean): Value {
  if (typeof raw !== 'number') return raw;
  if (Number.isSafeInteger(raw)) return raw;
  // An integer beyond the safe ones is an int if it fits into 64 bits.
  return Number.isInteger(raw) && Math.abs(raw) < 2 ** 63 ? BigInt(raw) : new CelDouble(raw);
}

function listValue(raw: readonly Json[], type: CelType): CelList {
  const item = type.params[0]!;
  const { listType, listKeys } = type.declared ?? {};
  return new CelList(
    raw.map((each) => typedValue(each, item)),
    listType,
    listKeys,
  );
}

function timestampOf(raw: string, type: CelType): Value {
  return parseTimestamp(type.declared?.isDate === true ? `${raw}T00:00:00Z` : raw);
}

function invalid(wanted: string, type: string): never {
  return fail(`invalid data, expected ${wanted} for the provided schema with type=${type}`);
}

/** A JSON object whose values are of one type. */
export class JsonMap extends MapValue {
  #converted: Map<string, Value> | undefined;
  #names: string[] | undefined;

  readonly #valueType: CelType;

  constructor(
    readonly raw: JsonObject,
    valueType: CelType,
  ) {
    super();
    this.#valueType = valueType;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.raw, key)) return undefined;
    const raw = this.raw[key]!;
    if (typeof raw === 'string' && this.#valueType.kind === 'string') return raw;
    this.#converted ??= new Map();
    let value = this.#converted.get(key);
    if (value === undefined) {
      value = typedValue(raw, this.#valueType);
      this.#converted.set(key, value);
    }
    return value;
  }

  keys(): string[] {
    this.#names ??= Object.keys(this.raw);
    return this.#names;
  }
}

/** An object of a schema with named properties. Its other members count only in comparisons. */
export class StructValue extends MapValue {
  #converted: Map<string, Value> | undefined;

  constructor(
    readonly raw: JsonObject,
    readonly type: CelType,
  ) {
    super();
  }

  get size(): number {
    return Object.keys(this.raw).length;
  }

  find(key: Value): Value | undefined {
    const field = typeof key === 'string' ? this.type.fields!.get(key) : undefined;
    return field === undefined ? undefined : this.field(field);
  }

  /** The value of a property; null counts as missing. */
  field({ name, type }: CelField): Value | undefined {
    if (!Object.hasOwn(this.raw, name)) return undefined;
    const raw = this.raw[name]!;
    if (raw === null) return undefined;
    const { kind } = type;
    if (
      typeof raw !== 'object' &&
      (kind === 'string' || kind === 'bool' || (kind === 'int' && Number.isSafeInteger(raw)))
    ) {
      return raw;
    }
    this.#converted ??= new Map();
    let value = this.#converted.get(name);
    if (value === undefined) {
      value = typedValue(raw, type);
      this.#converted.set(name, value);
    }
    return value;
  }

  keys(): string[] {
    return [...this.type.fields!]
      .filter(([, field]) => field.isAlias !== true && this.field(field) !== undefined)
      .map(([name]) => name);
  }
}

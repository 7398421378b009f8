import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../kube/json.js';
import { goJson } from './go-values.js';
import { memberSchema, type Schema } from './schema.js';

/**
 * A value and its predecessor before an update. Members correlate by name, items of lists of type map
 * by their keys, items of other lists not at all. Validation skips problems of unchanged values.
 */
export class Correlation {
  #known: boolean | undefined;
  /** Of a list of type map: what each item was before, by its keys. Made when the first is asked for. */
  #oldByKeys: Map<string, Json> | undefined;

  readonly #value: Json;
  readonly #old: Json;
  readonly #schema: Schema;

  constructor(value: Json, old: Json, schema: Schema) {
    this.#value = value;
    this.#old = old;
    this.#schema = schema;
  }

  member(name: string): Correlation | undefined {
    if (!isObject(this.#value) || !isObject(this.#old)) return undefined;
    const [value, old] = [member(this.#value, name), member(this.#old, name)];
    const schema = memberSchema(this.#schema, name);
    return value === undefined || old === undefined || schema === undefined
      ? undefined
      : new Correlation(value, old, schema);
  }

  item(index: number): Correlation | undefined {
    const [value, old, schema] = [this.#value, this.#old, this.#schema];
    if (schema.listType !== 'map' || !Array.isArray(value) || !Array.isArray(old)) return undefined;
    const item = value[index];
    if (!isObject(item)) return undefined;
    this.#oldByKeys ??= firstByKeys(old, schema.listKeys ?? []);
    const found = this.#oldByKeys.get(textOfKeys(item, schema.listKeys ?? []));
    return found === undefined ? undefined : new Correlation(item, found, schema.items ?? {});
  }

  /** The order of a list of type map does not count. */
  get isUnchanged(): boolean {
    this.#known ??= this.#compare();
    return this.#known;
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (this.#schema.listType !== 'map') return jsonEqual(value, old);
      return value.every((_, index) => this.item(index)?.isUnchanged === true);
    }
    if (!isObject(value) || !isObject(old)) return jsonEqual(value, old);
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => this.member(name)?.isUnchanged ?? jsonEqual(value[name], member(old, name)));
  }
}

function firstByKeys(items: readonly Json[], keys: readonly string[]): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const item of items) {
    if (!isObject(item)) continue;
    const text = textOfKeys(item, keys);
    if (!found.has(text)) found.set(text, item);
  }
  return found;
}

/** Equal for items whose keys are equal, and only for those; a key that is not there is no key that is null. */
function textOfKeys(item: JsonObject, keys: readonly string[]): string {
  return keys
    .map((key) => {
      const value = member(item, key);
      return value === undefined ? '' : goJson(value);
    })
    .join(',');
}

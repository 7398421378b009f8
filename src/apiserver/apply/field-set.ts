import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { comparePathElements } from './path-element.js';

/**
 * A set of paths into an object, as managed fields name them: a tree whose edges are path elements in their written form
 * (`f:`, `k:`, `v:`, `i:`). A path in the set does not mean that the paths below it are. Immutable from outside except by
 * `insert`, which only those who make a set may call.
 */
export class FieldSet {
  readonly #members = new Set<string>();
  readonly #children = new Map<string, FieldSet>();

  static of(...paths: readonly (readonly string[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  insert(path: readonly string[]): void {
    if (path.length === 0) return;
    let set: FieldSet = this;
    const last = path.length - 1;
    for (let index = 0; index < last; index++) set = set.#child(path[index]!);
    set.#members.add(path[last]!);
  }

  /**
   * Like `insert`, for somebody who walks an object: `trail` holds the sets on the way to the path before, and is to be cut to
   * the length of what both paths have in common. Deep objects with many members would take the whole way for each.
   */
  insertAlong(path: readonly string[], trail: FieldSet[]): void {
    if (path.length === 0) return;
    if (trail.length === 0) trail.push(this);
    while (trail.length < path.length) trail.push(trail.at(-1)!.#child(path[trail.length - 1]!));
    trail[path.length - 1]!.#members.add(path.at(-1)!);
  }

  /** Like `union`, but into this set: what many sets have in common is then not copied for each of them. */
  insertAll(other: FieldSet): void {
    for (const element of other.#members) this.#members.add(element);
    for (const [element, child] of other.#children) this.#child(element).insertAll(child);
  }

  get isEmpty(): boolean {
    // No child is ever empty: each is made to hold a path.
    return this.#members.size === 0 && this.#children.size === 0;
  }

  /** Whether the path of this one element is in the set. */
  hasMember(element: string): boolean {
    return this.#members.has(element);
  }

  /** The paths below an element; undefined when there is none. */
  below(element: string): FieldSet | undefined {
    const child = this.#children.get(element);
    return child === undefined || child.isEmpty ? undefined : child;
  }

  /** One of the two themselves where the other has nothing to add. */
  union(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    if (this.isEmpty) return other;
    const result = new FieldSet();
    result.insertAll(this);
    result.insertAll(other);
    return result;
  }

  /** Costs as much as this set is large, however large the other is. */
  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const element of this.#members) if (other.#members.has(element)) result.#members.add(element);
    for (const [element, child] of this.#children) {
      const others = other.#children.get(element);
      if (others !== undefined) result.#adopt(element, child.intersection(others));
    }
    return result;
  }

  /** Path by path: what stands below a path of `other` stays. */
  difference(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const element of this.#members) if (!other.#members.has(element)) result.#members.add(element);
    for (const [element, child] of this.#children) {
      const others = other.#children.get(element);
      result.#adopt(element, others === undefined ? child : child.difference(others));
    }
    return result;
  }

  /** Without the paths of `other` and everything below them. */
  withoutBelow(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const result = new FieldSet();
    for (const element of this.#members) if (!other.#members.has(element)) result.#members.add(element);
    for (const [element, child] of this.#children) {
      if (other.#members.has(element)) continue;
      const others = other.#children.get(element);
      result.#adopt(element, others === undefined ? child : child.withoutBelow(others));
    }
    return result;
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty && other.difference(this).isEmpty;
  }

  /** Every path: on each level those that end there first, then those that go on. */
  paths(prefix: readonly string[] = []): string[][] {
    const here = sorted(this.#members).map((element) => [...prefix, element]);
    const below = sorted(this.#children.keys()).flatMap((each) => this.#children.get(each)!.paths([...prefix, each]));
    return [...here, ...below];
  }

  /** A copy in which `isNamed` decides which inner elements count as paths of their own. */
  withNamedMembers(isNamed: (path: readonly string[]) => boolean, prefix: readonly string[] = []): FieldSet {
    const result = new FieldSet();
    for (const element of this.#members) result.#members.add(element);
    for (const [element, child] of this.#children) {
      if (child.isEmpty) continue;
      const path = [...prefix, element];
      if (isNamed(path)) result.#members.add(element);
      result.#adopt(element, child.withNamedMembers(isNamed, path));
    }
    return result;
  }

  /** `fieldsV1`. */
  toJson(): JsonObject {
    return this.#writeInto({});
  }

  #writeInto(result: JsonObject): JsonObject {
    for (const element of this.#elements()) {
      const child = this.below(element);
      const isMember = this.#members.has(element);
      if (child !== undefined) result[element] = child.#writeInto(isMember ? { '.': {} } : {});
      else if (isMember) result[element] = {};
    }
    return result;
  }

  /** Of members and of what lies deeper, each once, in order. */
  #elements(): string[] {
    const elements = [...this.#members];
    for (const element of this.#children.keys()) if (!this.#members.has(element)) elements.push(element);
    return elements.length > 1 ? elements.sort(comparePathElements) : elements;
  }

  static fromJson(fields: Json): FieldSet {
    const set = new FieldSet();
    if (!isObject(fields)) throw new Error('fieldsV1 must be an object');
    for (const [element, inner] of Object.entries(fields)) {
      if (element === '.') continue;
      if (!/^[fkvi]:/.test(element)) throw new Error(`unknown path element ${element}`);
      if (!isObject(inner)) throw new Error('fieldsV1 must hold objects');
      const keys = Object.keys(inner);
      if (keys.length === 0 || keys.includes('.')) set.#members.add(element);
      if (keys.length > 0) set.#adopt(element, FieldSet.fromJson(inner));
    }
    return set;
  }

  #adopt(element: string, child: FieldSet): void {
    if (!child.isEmpty) this.#children.set(element, child);
  }

  #child(element: string): FieldSet {
    let child = this.#children.get(element);
    if (child === undefined) {
      child = new FieldSet();
      this.#children.set(element, child);
    }
    return child;
  }
}

function sorted(elements: Iterable<string>): string[] {
  return [...elements].sort(comparePathElements);
}

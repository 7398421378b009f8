import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { comparePathElements } from './path-element.js';

/**
 * A set of paths into an object, as in managed fields: a tree whose edges are path elements in their
 * wire format (`f:`, `k:`, `v:`, `i:`). A path in the set does not imply the paths below it. Only the
 * creator of a set may call the insert methods.
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
   * Like `insert`, for a walk through an object: `trail` holds the sets on the path of the last call, which
   * the caller cuts to the part that both paths share. It saves the descent from the root for each member.
   */
  insertAlong(path: readonly string[], trail: FieldSet[]): void {
    if (path.length === 0) return;
    if (trail.length === 0) trail.push(this);
    while (trail.length < path.length) trail.push(trail.at(-1)!.#child(path[trail.length - 1]!));
    trail[path.length - 1]!.#members.add(path.at(-1)!);
  }

  /** Like `union`, but into this set, without a copy for each of many sets. */
  insertAll(other: FieldSet): void {
    for (const element of other.#members) this.#members.add(element);
    for (const [element, child] of other.#children) this.#child(element).insertAll(child);
  }

  get isEmpty(): boolean {
    // No child is empty: each is made for a path.
    return this.#members.size === 0 && this.#children.size === 0;
  }

  /** Returns whether the path of this one element is in the set. */
  hasMember(element: string): boolean {
    return this.#members.has(element);
  }

  /** Returns the paths below an element; undefined if there are none. */
  below(element: string): FieldSet | undefined {
    const child = this.#children.get(element);
    return child === undefined || child.isEmpty ? undefined : child;
  }

  /** Returns one of the two sets itself if the other is empty. */
  union(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    if (this.isEmpty) return other;
    const result = new FieldSet();
    result.insertAll(this);
    result.insertAll(other);
    return result;
  }

  /** Takes time in proportion to this set, not to the other. */
  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const element of this.#members) if (other.#members.has(element)) result.#members.add(element);
    for (const [element, child] of this.#children) {
      const others = other.#children.get(element);
      if (others !== undefined) result.#adopt(element, child.intersection(others));
    }
    return result;
  }

  /** Path by path: paths below a path of `other` stay. */
  difference(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const element of this.#members) if (!other.#members.has(element)) result.#members.add(element);
    for (const [element, child] of this.#children) {
      const others = other.#children.get(element);
      result.#adopt(element, others === undefined ? child : child.difference(others));
    }
    return result;
  }

  /** Removes the paths of `other` and all paths below them. */
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

  /** Returns all paths: on each level first those that end there. */
  paths(prefix: readonly string[] = []): string[][] {
    const here = sorted(this.#members).map((element) => [...prefix, element]);
    const below = sorted(this.#children.keys()).flatMap((each) => this.#children.get(each)!.paths([...prefix, each]));
    return [...here, ...below];
  }

  /** Returns a copy with the inner elements as paths for which `isNamed` returns true. */
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

  /** Returns the first elements of all paths, each once, in order. */
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

import { isMeant, type ObservedObject, type OwnerReference } from './owner-reference.js';

/** Receives objects to check after a change: may they stay, or release their dependents. */
export interface GraphWork {
  readonly judge: (uid: string) => void;
  readonly release: (uid: string) => void;
}

interface Node {
  readonly uid: string;
  /** Undefined while only references to it were seen. */
  object: ObservedObject | undefined;
  readonly dependents: Set<Node>;
}

/**
 * Owners and dependents, as far as the watches reported them. It may be behind, so it only selects
 * objects to check. Not bounded: it has one small node for each object of the cluster.
 */
export class ObjectGraph {
  readonly #nodes = new Map<string, Node>();
  readonly #work: GraphWork;

  constructor(work: GraphWork) {
    this.#work = work;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Returns undefined for unknown objects, and for owners of which only references were seen. */
  object(uid: string): ObservedObject | undefined {
    return this.#nodes.get(uid)?.object;
  }

  isHeardOf(uid: string): boolean {
    const node = this.#nodes.get(uid);
    return node !== undefined && node.object === undefined;
  }

  dependents(uid: string): ObservedObject[] {
    return [...(this.#nodes.get(uid)?.dependents ?? [])].flatMap(({ object }) => object ?? []);
  }

  /** Returns the dependents that block the foreground deletion of an owner. */
  blockers(uid: string): ObservedObject[] {
    return this.dependents(uid).filter(({ owners }) => owners.some((each) => each.uid === uid && each.blocksOwner));
  }

  /** Objects last seen in a resource. */
  *seenIn(resource: string): Generator<ObservedObject> {
    for (const { object } of this.#nodes.values()) if (object?.resource === resource) yield object;
  }

  /** Adds or updates an object. */
  observe(object: ObservedObject): void {
    const node = this.#node(object.uid);
    const before = node.object;
    node.object = object;
    if (!before) this.#judgeMistaken(node, object);
    this.#link(node, object, before?.owners ?? []);
    this.#unlink(node, before?.owners ?? [], object);
    if (object.isForeground && !before?.isForeground) {
      for (const dependent of node.dependents) this.#work.judge(dependent.uid);
      this.#work.judge(object.uid);
    }
    if (object.isOrphaning && !before?.isOrphaning) this.#work.release(object.uid);
  }

  /** Removes an object that is certainly gone. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#nodes.delete(uid);
    for (const dependent of node.dependents) this.#work.judge(dependent.uid);
    for (const { uid: ownerUid } of node.object?.owners ?? []) this.#leave(node, ownerUid);
  }

  /** Forgets the objects of a resource that is no longer watched. They may still exist. */
  unwatch(resource: string): void {
    for (const node of [...this.#nodes.values()]) {
      if (node.object?.resource !== resource) continue;
      const { owners } = node.object;
      node.object = undefined;
      for (const { uid } of owners) this.#detach(node, uid);
      if (node.dependents.size === 0) this.#nodes.delete(node.uid);
    }
  }

  /** Selects all objects that may need a check again, after checks were rejected or failed. */
  rescan(): void {
    for (const { uid, object, dependents } of this.#nodes.values()) {
      if (!object) {
        if (dependents.size > 0) this.#work.judge(uid);
        continue;
      }
      if (object.isForeground || object.owners.some((owner) => this.#isDoubtful(owner))) this.#work.judge(uid);
      if (object.isOrphaning) this.#work.release(uid);
    }
  }

  #isDoubtful({ uid }: OwnerReference): boolean {
    const owner = this.#nodes.get(uid);
    return !owner || owner.object?.isForeground === true;
  }

  #node(uid: string): Node {
    const known = this.#nodes.get(uid);
    if (known) return known;
    const node: Node = { uid, object: undefined, dependents: new Set() };
    this.#nodes.set(uid, node);
    return node;
  }

  #link(node: Node, object: ObservedObject, before: readonly OwnerReference[]): void {
    for (const reference of object.owners) {
      if (before.some((each) => sameReference(each, reference))) continue;
      const owner = this.#node(reference.uid);
      owner.dependents.add(node);
      if (!owner.object) {
        // Not seen yet: a watch may be behind, or the owner does not exist.
        this.#work.judge(reference.uid);
        continue;
      }
      // Also for a dependent that was created after the deletion of its owner.
      if (owner.object.isForeground || !isMeant(reference, object.namespace, owner.object)) this.#work.judge(node.uid);
      if (owner.object.isOrphaning) this.#work.release(owner.uid);
    }
  }

  #unlink(node: Node, before: readonly OwnerReference[], object: ObservedObject): void {
    for (const old of before) {
      const now = object.owners.find(({ uid }) => uid === old.uid);
      if (!now) this.#leave(node, old.uid);
      else if (old.blocksOwner && !now.blocksOwner) this.#judgeWaiting(this.#nodes.get(old.uid));
    }
  }

  #leave(node: Node, ownerUid: string): void {
    this.#judgeWaiting(this.#detach(node, ownerUid));
  }

  #detach(node: Node, ownerUid: string): Node | undefined {
    const owner = this.#nodes.get(ownerUid);
    owner?.dependents.delete(node);
    if (owner && !owner.object && owner.dependents.size === 0) this.#nodes.delete(ownerUid);
    return owner;
  }

  #judgeWaiting(owner: Node | undefined): void {
    if (owner?.object?.isForeground) this.#work.judge(owner.uid);
  }

  /** Judges dependents whose reference has another kind, name or namespace. */
  #judgeMistaken(owner: Node, object: ObservedObject): void {
    for (const { uid, object: dependent } of owner.dependents) {
      const reference = dependent?.owners.find((each) => each.uid === owner.uid);
      if (dependent && reference && !isMeant(reference, dependent.namespace, object)) this.#work.judge(uid);
    }
  }
}

function sameReference(left: OwnerReference, right: OwnerReference): boolean {
  return (
    left.uid === right.uid &&
    left.apiVersion === right.apiVersion &&
    left.kind === right.kind &&
    left.name === right.name &&
    left.blocksOwner === right.blocksOwner
  );
}

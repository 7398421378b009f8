import { isMeant, type ObservedObject, type OwnerReference } from './owner-reference.js';

/** Objects to look at after a change: to judge whether they may stay, or to release their dependents. */
export interface GraphWork {
  readonly judge: (uid: string) => void;
  readonly release: (uid: string) => void;
}

interface Node {
  readonly uid: string;
  /** Undefined while only references to it have been seen. */
  object: ObservedObject | undefined;
  readonly dependents: Set<Node>;
}

/**
 * Who belongs to whom, as far as the watches have told. It only says what is worth looking at: nothing is deleted on its
 * word, because it may be behind. Not bounded by itself; it holds one small node for each object of the cluster.
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

  /** Undefined for what is unknown, and for owners that were only heard of. */
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

  /** Dependents that an owner has to outlive when it is deleted in the foreground. */
  blockers(uid: string): ObservedObject[] {
    return this.dependents(uid).filter(({ owners }) => owners.some((each) => each.uid === uid && each.blocksOwner));
  }

  /** Objects last seen in a resource. */
  *seenIn(resource: string): Generator<ObservedObject> {
    for (const { object } of this.#nodes.values()) if (object?.resource === resource) yield object;
  }

  /** An object was made or changed. */
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

  /** An object is known to be gone. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#nodes.delete(uid);
    for (const dependent of node.dependents) this.#work.judge(dependent.uid);
    for (const { uid: ownerUid } of node.object?.owners ?? []) this.#leave(node, ownerUid);
  }

  /** A resource is no longer watched. That says nothing about its objects, so nobody is judged for it. */
  unwatch(resource: string): void {
    for (const node of [...this.#nodes.values()]) {
      if (node.object?.resource !== resource) continue;
      const { owners } = node.object;
      node.object = undefined;
      for (const { uid } of owners) this.#detach(node, uid);
      if (node.dependents.size === 0) this.#nodes.delete(node.uid);
    }
  }

  /** Everything that may need a look, for when some looks were turned away or could not be finished. */
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
        // Nothing seen of it yet: it may come with a watch that is behind, or not exist at all.
        this.#work.judge(reference.uid);
        continue;
      }
      // A dependent that came late still shares its owner's fate.
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

  /** Whoever named it by another kind, name or namespace than it has, meant something that does not exist. */
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

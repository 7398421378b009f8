/**
 * Merges several orders (topological sort): items keep their relative order in every list; items
 * that no list orders are ordered lexicographically. Returns undefined if the lists contradict each
 * other (a cycle). The result does not depend on the order of `lists`. A list must not contain an
 * item twice.
 */
export function mergeOrders(lists: readonly (readonly string[])[]): string[] | undefined {
  const after = new Map<string, Set<string>>();
  const waitsFor = new Map<string, number>();
  for (const list of lists) {
    for (const item of list) {
      if (!after.has(item)) after.set(item, new Set());
      if (!waitsFor.has(item)) waitsFor.set(item, 0);
    }
    // Edges between neighbours are enough: the order is transitive.
    for (let i = 1; i < list.length; i++) {
      const followers = after.get(list[i - 1]!)!;
      if (followers.has(list[i]!)) continue;
      followers.add(list[i]!);
      waitsFor.set(list[i]!, waitsFor.get(list[i]!)! + 1);
    }
  }

  const free = new LeastFirst();
  for (const [item, count] of waitsFor) if (count === 0) free.push(item);
  const ordered: string[] = [];
  for (let item = free.pop(); item !== undefined; item = free.pop()) {
    ordered.push(item);
    for (const follower of after.get(item)!) {
      const count = waitsFor.get(follower)! - 1;
      waitsFor.set(follower, count);
      if (count === 0) free.push(follower);
    }
  }
  return ordered.length === after.size ? ordered : undefined;
}

/**
 * Merges lists that contradict each other: the first list has precedence; an item that it lacks is
 * placed after its nearest predecessor in its own list, or first if it has none.
 */
export function orderByFirst(lists: readonly (readonly string[])[]): string[] {
  const ordered: string[] = [...(lists[0] ?? [])];
  const placed = new Set(ordered);
  for (const list of lists.slice(1)) {
    let at = 0;
    for (const item of list) {
      if (placed.has(item)) {
        at = ordered.indexOf(item) + 1;
        continue;
      }
      ordered.splice(at, 0, item);
      placed.add(item);
      at++;
    }
  }
  return ordered;
}

/**
 * A binary heap of strings in code unit order, which for ASCII names is the same in Go and
 * JavaScript.
 */
class LeastFirst {
  readonly #heap: string[] = [];

  push(item: string): void {
    const heap = this.#heap;
    let at = heap.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]! <= item) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = item;
  }

  pop(): string | undefined {
    const heap = this.#heap;
    const least = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return least;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= last) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return least;
  }
}

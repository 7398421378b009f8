/** Calls `work` for every item, at most `atOnceMax` at a time. Resolves with the results in the order of the items. */
export async function eachBounded<T, R>(
  items: readonly T[],
  atOnceMax: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, worker));
  return results;
}

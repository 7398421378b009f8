import type { Clock } from '../../base/clock.js';

export interface CompactionPolicy {
  /** History younger than this is kept, unless there is too much of it. 0 switches background compaction off. */
  readonly historyMs: number;
  /** At most this many revisions are kept, however young. */
  readonly historyRevisionsMax: number;
}

/** Five minutes is what Kubernetes' clients are used to: long enough for a reader to page through any list. */
export const DEFAULT_COMPACTION: CompactionPolicy = { historyMs: 300_000, historyRevisionsMax: 500_000 };

export interface CompactionTarget {
  currentRevision(): Promise<number>;
  compact(revision: number): Promise<void>;
}

/** How often in each history span the store is looked at: history lives at most this much longer than asked for. */
const LOOKS_PER_HISTORY = 5;

/**
 * Compacts to the revision that was the newest `historyMs` ago. Every process that shares a store may run one: each
 * compacts only what it has itself seen to be old enough, and repeating a compaction does nothing.
 *
 * Returns how to stop. Failures are handed over and the next look tries again.
 */
export function compactInBackground(
  target: CompactionTarget,
  policy: CompactionPolicy,
  clock: Clock,
  onError: (error: unknown) => void,
): () => void {
  if (policy.historyMs <= 0) return () => {};
  const lookIntervalMs = Math.max(1, Math.floor(policy.historyMs / LOOKS_PER_HISTORY));
  const seen: { atMs: number; revision: number }[] = [];
  let stopped = false;
  let cancel = clock.after(0, look);

  async function look(): Promise<void> {
    try {
      const revision = await target.currentRevision();
      seen.push({ atMs: clock.nowMs(), revision });
      const due = compactionDue(seen, policy, clock.nowMs());
      if (due !== undefined) await target.compact(due);
    } catch (error) {
      if (!stopped) onError(error);
    }
    if (!stopped) cancel = clock.after(lookIntervalMs, look);
  }

  return () => {
    stopped = true;
    cancel();
  };
}

/** The revision to compact to now, if any. Forgets the observations that no later look will need. */
function compactionDue(
  seen: { atMs: number; revision: number }[],
  policy: CompactionPolicy,
  nowMs: number,
): number | undefined {
  let due: number | undefined;
  while (seen.length > 0 && nowMs - seen[0]!.atMs >= policy.historyMs) due = seen.shift()!.revision;
  const newest = seen.at(-1)?.revision ?? due ?? 0;
  const byCount = newest - policy.historyRevisionsMax;
  if (byCount > (due ?? 0)) due = byCount;
  return due !== undefined && due > 1 ? due : undefined;
}

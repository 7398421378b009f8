import type { Clock } from '../../base/clock.js';
import type { Backend, CompactionPolicy } from './backend.js';

/** Five minutes as in kube-apiserver: long enough for a reader to page through any list. */
export const DEFAULT_COMPACTION: CompactionPolicy = { historyMs: 300_000, historyRevisionsMax: 500_000 };

/** Checks per `historyMs`: history is kept at most a fifth longer than configured. */
const LOOKS_PER_HISTORY = 5;

/**
 * Compacts to the revision that was the newest `historyMs` ago, and returns a function that stops. Every
 * process that shares a store may run it: each compacts only revisions whose age it has observed, and
 * repeating a compaction does nothing. Failures are passed to `onError` and retried at the next check.
 */
export function compactInBackground(
  target: Pick<Backend, 'currentRevision' | 'compact'>,
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

/** Returns the revision to compact to now, if any. Removes observations that no later check needs. */
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

import { timestamp } from '../../kube/timestamp.js';
import { Half } from './rehearsal-half.js';
import type { RehearsalOptions } from './rehearsal-options.js';
import type { HalfResult, RehearsalResult } from './rehearsal-result.js';

/** A single server is never mixed. */
const SERVERS_MIN = 2;

/**
 * Rolls a control plane from one version to another and back, under load, once for each half, and
 * records the replies that clients get. Rejects, with nothing left running, with a message for the user.
 */
export async function rehearse(options: RehearsalOptions): Promise<RehearsalResult> {
  const { from, to, servers, made, clock, halves } = options;
  if (servers < SERVERS_MIN) throw new Error(`A rehearsal needs ${SERVERS_MIN} servers or more.`);
  if (from === to) throw new Error(`From ${from} to ${to} nothing changes: give two versions.`);
  const startedAt = timestamp(clock.nowMs());
  const results: HalfResult[] = [];
  for (const half of halves) results.push(await runHalf(options, half === 'on'));
  return { from, to, startedAt, servers, made, halves: results };
}

async function runHalf(options: RehearsalOptions, proxy: boolean): Promise<HalfResult> {
  const { start, servers, from, progress, signal } = options;
  signal.throwIfAborted();
  const versions = Array.from({ length: servers }, () => from);
  const plane = await start({ proxy, versions, progress });
  const half = new Half(options, plane, proxy);
  try {
    return await half.run();
  } finally {
    await half.close().finally(() => plane.close());
  }
}

import { call, keepAliveAgent } from '../../test/real/rig/http-client.js';
import { WatchCrowd } from '../watch-crowd.js';
import type { Contestant } from './contestant.js';
import { JOBS, job, type Pair } from './pair.js';

const PER_CONNECTION = 100;
const CREATED_AT_ONCE = 8;

/** Jobs to be watched, whose names begin with `prefix`. */
export async function createWatched({ direct, caller }: Pair, prefix: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  const agent = keepAliveAgent(CREATED_AT_ONCE);
  await Promise.all(
    names.map(async (name) => {
      const body = job(name);
      const answer = await call({ url: direct.url, ...caller }, JOBS, { method: 'POST', body, agent });
      if (answer.status !== 201) throw new Error(`POST ${name}: ${answer.status} ${answer.text}`);
    }),
  );
  agent.destroy();
  return names;
}

/** Watches of those Jobs by way of a contestant; they are written at the server that has them, whoever is measured. */
export function openCrowd(
  { direct, caller }: Pair,
  { url }: Contestant,
  names: readonly string[],
  watchersEach: number,
): Promise<WatchCrowd> {
  return WatchCrowd.open({
    server: { url, ...caller },
    writeTo: { url: direct.url, ...caller },
    collection: JOBS,
    names,
    watchersEach,
    perConnection: PER_CONNECTION,
  });
}

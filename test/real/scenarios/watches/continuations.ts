import assert from 'node:assert/strict';
import { call, type Endpoint } from '../../rig/http-client.js';

/** How many watches whose server went away met which end, in the process at this endpoint. */
export async function watchContinuations(straddle: Endpoint): Promise<Readonly<Record<string, number>>> {
  const answer = await call(straddle, '/metrics');
  assert.equal(answer.status, 200, answer.text);
  const samples = answer.text.matchAll(/^straddle_watch_continuations_total\{outcome="([a-z-]+)"\} (\d+)$/gm);
  return Object.fromEntries([...samples].map(([, outcome, count]) => [outcome, Number(count)]));
}

/** The outcomes since then that count something. */
export function outcomesSince(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): Record<string, number> {
  const grown = Object.entries(now).map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}

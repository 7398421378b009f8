import type { Clock } from '../../base/clock.js';
import type { ApiAnswer } from './api-connection.js';
import { pause } from './pause.js';

const TRIES_MAX = 25;
const BETWEEN_MS = 200;

/** Asks again until the answer will do, as a person at a terminal would. Undefined when it never did. */
export async function insist(
  clock: Clock,
  signal: AbortSignal,
  ask: () => Promise<ApiAnswer>,
  willDo: (answer: ApiAnswer) => boolean,
): Promise<ApiAnswer | undefined> {
  for (let tries = 0; tries < TRIES_MAX && !signal.aborted; tries++) {
    const answer = await ask();
    if (willDo(answer)) return answer;
    await pause(clock, BETWEEN_MS, signal);
  }
  return undefined;
}

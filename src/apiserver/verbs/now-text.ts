import type { Clock } from '../../base/clock.js';
import { timestamp } from '../../kube/timestamp.js';

let second = -1;
let text = '';

/** Returns the time in the format of Kubernetes, formatted once for all writes of one second. */
export function nowText(clock: Clock): string {
  const nowMs = clock.nowMs();
  const now = Math.floor(nowMs / 1000);
  if (now !== second) {
    second = now;
    text = timestamp(nowMs);
  }
  return text;
}

import type { Clock } from '../../base/clock.js';
import { timestamp } from '../../kube/timestamp.js';

let second = -1;
let text = '';

/** The time as Kubernetes writes it. Many writes fall into one second: its text is kept until the next. */
export function nowText(clock: Clock): string {
  const nowMs = clock.nowMs();
  const now = Math.floor(nowMs / 1000);
  if (now !== second) {
    second = now;
    text = timestamp(nowMs);
  }
  return text;
}

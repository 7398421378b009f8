import { parseGoDurationMs } from '../../compose/config/go-duration.js';
import { shown } from './check-keys.js';

/** A time with its unit, as in the flags of Straddle and of Kubernetes: `500ms`, `30s`, `1h30m`. */
export type Duration = string;

/** Throws for anything else, with the name of the option. */
export function durationMs(where: string, duration: Duration): number {
  const ms = typeof duration === 'string' ? parseGoDurationMs(duration) : undefined;
  if (ms !== undefined) return ms;
  const hint = typeof duration === 'number' ? ` Did you mean '${duration}ms'?` : '';
  throw new Error(
    `${where}: ${shown(duration)} is no duration; give it with its unit, as in '500ms', '30s' or '1h30m'.${hint}`,
  );
}

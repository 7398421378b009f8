import { InvalidArgumentError } from 'commander';
import { parseGoDurationMs } from '../compose/config/go-duration.js';

export interface DurationBounds {
  readonly minMs: number;
  readonly maxMs: number;
  /** `a duration from 1s to 24h, such as 10m`. */
  readonly form: string;
}

/** Returns a parser for the value of a flag, in milliseconds. */
export function durationArgument({ minMs, maxMs, form }: DurationBounds): (text: string) => number {
  return (text) => {
    const ms = parseGoDurationMs(text);
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
    throw new InvalidArgumentError(`Give ${form}.`);
  };
}

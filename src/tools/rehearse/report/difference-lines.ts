import { printable } from '../../../base/printable.js';
import type { DifferenceUse, RehearsalResult } from '../rehearsal-result.js';

const GAP = 3;

/** Returns what differs between the versions, what is exercised of it, and why the rest is not, as lines of a terminal. */
export function differenceLines({ differences, notes }: Pick<RehearsalResult, 'differences' | 'notes'>): string[] {
  const width = Math.max(0, ...differences.map(({ name }) => name.length)) + GAP;
  const versions = [...new Set(differences.map(({ servedBy }) => servedBy))];
  const lines = versions.flatMap((version) => [
    `Only ${version} serves`,
    ...differences
      .filter(({ servedBy }) => servedBy === version)
      .map((use) => `  ${use.name.padEnd(width)}${useText(use)}`),
  ]);
  return [...lines, ...notes].map((line) => printable(line).replace(/\s*\n\s*/g, ' '));
}

/** `requests, watches, owners`, or the reason why there is none of it. */
export function useText({ exercises, reason }: DifferenceUse): string {
  return reason === undefined ? exercises.join(', ') : `not exercised: ${reason}`;
}

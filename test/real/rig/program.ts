import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../../../bin/straddle.js', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

/** The entry of another build of `straddle`, to measure it against this one. */
const otherBuild = (): string | undefined => process.env['STRADDLE_REAL_PROGRAM'];

/** True where the servers shall run from src/ as it stands, without a build. */
export function runsFromSources(): boolean {
  return process.env['STRADDLE_REAL_SOURCES'] === '1';
}

/** True where what runs is what `npm run build` makes of src/. */
export function runsFromBuild(): boolean {
  return !runsFromSources() && otherBuild() === undefined;
}

/** What to give Node so that it runs `straddle`. */
export function straddleProgram(): string[] {
  if (runsFromSources()) return ['--import', 'tsx', SOURCE];
  return [otherBuild() ?? BUILT];
}

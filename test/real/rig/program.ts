import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../../../bin/straddle.js', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

/** True where the servers shall run from src/ as it stands, without a build. */
export function runsFromSources(): boolean {
  return process.env['STRADDLE_REAL_SOURCES'] === '1';
}

/** What to give Node so that it runs `straddle`. */
export function straddleProgram(): string[] {
  return runsFromSources() ? ['--import', 'tsx', SOURCE] : [BUILT];
}

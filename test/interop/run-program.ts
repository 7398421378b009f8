import { execFile } from 'node:child_process';

export interface ProgramResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
/** Some cases have large headers on their command lines. */
const COMMAND_CHARS_MAX = 300;

/** Runs a program to its end. Throws if it cannot be started or does not end in time. */
export function tryProgram(program: string, args: readonly string[]): Promise<ProgramResult> {
  const options = { encoding: 'buffer', maxBuffer: OUTPUT_BYTES_MAX, timeout: TIMEOUT_MS } as const;
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr: stderr.toString() });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr: stderr.toString() });
      else reject(new Error(`${shown(program, args)}: ${error.killed ? 'not done in time' : error.message}`));
    });
  });
}

/** The same, for a program that must succeed. */
export async function runProgram(program: string, args: readonly string[]): Promise<ProgramResult> {
  const result = await tryProgram(program, args);
  if (result.code === 0) return result;
  const said = `${result.stderr}${result.stdout.subarray(0, 2_000).toString()}`.trim();
  throw new Error(`${shown(program, args)} ended with ${result.code}: ${said}`);
}

function shown(program: string, args: readonly string[]): string {
  const line = [program, ...args].join(' ');
  return line.length <= COMMAND_CHARS_MAX ? line : `${line.slice(0, COMMAND_CHARS_MAX)}…`;
}

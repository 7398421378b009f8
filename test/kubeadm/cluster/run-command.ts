import { spawn } from 'node:child_process';

export interface CommandResult {
  readonly code: number | null;
  /** Standard output and error, as they came. */
  readonly output: string;
  readonly stdout: string;
}

const TIMEOUT_MS = 180_000;

export interface CommandOptions {
  readonly input?: string;
  readonly timeoutMs?: number;
  /** Default: that of the test. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end; it dies with the test. */
export function runCommand(
  command: readonly string[],
  { input = '', timeoutMs = TIMEOUT_MS, env = process.env }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
      env,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output, stdout }));
  });
}

/** Runs a program that must end with 0, and returns its standard output. */
export async function mustRun(command: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, output, stdout } = await runCommand(command, options);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${output.trim()}`);
  return stdout;
}

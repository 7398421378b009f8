import { runStraddle } from '../../src/cli/program.js';
import { machine } from './plane-options.js';

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process, one that starts no server. */
export async function runCommand(homeDirectory: string, argv: readonly string[]): Promise<CommandResult> {
  let out = '';
  let err = '';
  const never = () => Promise.reject(new Error('not expected'));
  const code = await runStraddle(
    argv,
    {
      ...machine,
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        err += text;
      },
      stderrIsTerminal: false,
      environment: {},
      homeDirectory,
      writeFile: () => {},
      nowMs: Date.now,
      onStopSignal: () => () => {},
      outlastTerminal: () => {},
      exitNow: () => {},
    },
    { proxy: never, apiServer: never, controlPlane: never, rehearse: never, testControlPlane: never },
  );
  return { code, out, err };
}

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { binaryPath, programName } from './binaries.js';
import { chosenServers, newestOf } from './chosen-servers.js';
import type { KubeVersion } from './pinned-versions.js';

export interface KubectlOptions {
  readonly context: string;
  readonly user?: 'admin' | 'alice';
  readonly input?: string | object;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Where files that it is given by a relative path lie. */
  readonly cwd?: string;
}

export interface KubectlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl that goes on, such as `get --watch`. */
export interface RunningKubectl {
  /** Its output so far. */
  output(): string;
  readonly done: Promise<KubectlResult>;
  stop(): Promise<KubectlResult>;
}

const TIMEOUT_MS = 30_000;

/** kubectl of the newest of the servers, if not of another version. */
export class Kubectl {
  constructor(
    private readonly kubeconfig: string,
    private readonly dir: string,
    readonly version: KubeVersion = newestOf(chosenServers()),
  ) {}

  /** Runs it and answers its output; a code other than 0 is an error that shows what kubectl said. */
  async run(options: KubectlOptions, ...args: string[]): Promise<string> {
    const result = await this.try(options, ...args);
    if (result.code !== 0) {
      throw new Error(`kubectl ${args.join(' ')} (${options.context}) ended with ${result.code}: ${result.stderr}`);
    }
    return result.stdout;
  }

  /** Runs it and answers whatever came of it. */
  try(options: KubectlOptions, ...args: string[]): Promise<KubectlResult> {
    return this.start(options, ...args).done;
  }

  start({ context, user, input, env, cwd, timeoutMs = TIMEOUT_MS }: KubectlOptions, ...args: string[]): RunningKubectl {
    const connection = [
      `--kubeconfig=${this.kubeconfig}`,
      `--context=${context}`,
      `--cache-dir=${join(this.dir, 'kubectl-cache')}`,
      ...(user === undefined ? [] : [`--user=${user}`]),
    ];
    const child = spawn(binaryPath(programName('kubectl', this.version)), [...connection, ...args], {
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(typeof input === 'object' ? JSON.stringify(input) : (input ?? ''));
    const done = new Promise<KubectlResult>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) =>
        resolve({ code, stdout, stderr: signal === null ? stderr : `${stderr}\n(ended by ${signal})` }),
      );
    });
    return {
      output: () => stdout,
      done,
      stop: () => {
        child.kill('SIGTERM');
        return done;
      },
    };
  }
}

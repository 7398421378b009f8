import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Standard output and error are appended here. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The process sees this host name: a kube-apiserver's identity is a hash of it. */
  readonly hostname?: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const STOP_TIMEOUT_MS = 30_000;

/** Everything the rig started and that has not ended. */
const alive = new Set<RigProcess>();

// The last line of defence; an orderly end calls stopEverything() before.
process.on('exit', () => {
  for (const each of alive) each.signal('SIGKILL');
});

/** A process of the rig. It dies with the rig, whatever happens to the rig. */
export class RigProcess {
  readonly exited: Promise<Exit>;
  private readonly child: ChildProcess;

  constructor(readonly options: ProcessOptions) {
    const log = openSync(options.logFile, 'a');
    const [command, ...args] = commandLine(options);
    this.child = spawn(command, args, {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...options.env },
      // Its own group: Ctrl-C at the terminal must not reach it before the rig stops it in order.
      detached: true,
    });
    closeSync(log);
    alive.add(this);
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', (error) => {
        alive.delete(this);
        reject(new Error(`cannot start ${options.name}: ${error.message}`));
      });
      this.child.once('exit', (code, signal) => {
        alive.delete(this);
        resolve({ code, signal });
      });
    });
    this.exited.catch(() => {});
  }

  get name(): string {
    return this.options.name;
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get running(): boolean {
    return alive.has(this);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.child.kill(signal);
  }

  /** SIGTERM, and SIGKILL if that takes too long. */
  async stop(timeoutMs = STOP_TIMEOUT_MS): Promise<Exit> {
    this.signal('SIGTERM');
    // A stopped process does not see SIGTERM before it continues.
    this.signal('SIGCONT');
    const timer = new AbortController();
    const late = delay(timeoutMs, undefined, { signal: timer.signal }).then(
      () => this.signal('SIGKILL'),
      () => {},
    );
    const exit = await this.exited;
    timer.abort();
    await late;
    return exit;
  }

  async kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  log(): string {
    return readFileSync(this.options.logFile, 'utf8');
  }

  /** The end of its log, for a message about a failure. */
  logTail(lines = 15): string {
    return this.log().trimEnd().split('\n').slice(-lines).join('\n');
  }
}

/** `exec` all the way down, so that the process id is the program's own. */
function commandLine({ command, args, hostname }: ProcessOptions): [string, ...string[]] {
  const program = [command, ...args];
  const named =
    hostname === undefined
      ? program
      : ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', hostname, ...program];
  return ['setpriv', '--pdeathsig', 'KILL', '--', ...named];
}

export async function stopEverything(): Promise<void> {
  await Promise.all([...alive].map((each) => each.stop(5_000).catch(() => undefined)));
}

/** The rig needs Linux and the right to give a process its own host name; says what is missing otherwise. */
export function requireNamespaces(): void {
  const trial = spawnSync('setpriv', ['--pdeathsig', 'KILL', '--', 'unshare', '--uts', 'hostname', 'rig-trial']);
  if (trial.status === 0) return;
  const reason = trial.error?.message ?? trial.stderr?.toString().trim();
  throw new Error(
    'The rig gives each kube-apiserver its own host name with `unshare --uts` (util-linux, Linux only, needs root or ' +
      `CAP_SYS_ADMIN), and that does not work here: ${reason}. Run it as root, for example in a privileged container.`,
  );
}

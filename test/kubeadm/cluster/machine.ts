import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { binaryPath, programName } from '../../real/rig/binaries.js';
import { requireProgram } from '../../real/rig/debian-program.js';
import { eventually, GiveUp } from '../../real/rig/eventually.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import { RigProcess } from '../../real/rig/process.js';
import { straddleProgram } from '../../real/rig/program.js';
import { type CommandResult, mustRun, runCommand } from './run-command.js';

export const BRIDGE = 'control-plane';
/** Address of the load balancer, and of all clients, on the bridge. */
export const BALANCER_ADDRESS = '10.0.0.10';
export const PORT = 6443;
const PREFIX_LENGTH = 24;

/** What programs of a node read below /etc, beside its own /etc/kubernetes. */
const SHARED_CONFIGURATION = ['group', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'nsswitch.conf', 'passwd', 'ssl'];

const ip = (): string => requireProgram('ip', 'iproute2');

/** Makes the bridge in the network namespace of this process, which nobody else uses. */
export async function makeBridge(): Promise<void> {
  await mustRun([ip(), 'link', 'set', 'lo', 'up']);
  await mustRun([ip(), 'link', 'add', BRIDGE, 'type', 'bridge']);
  await mustRun([ip(), 'address', 'add', `${BALANCER_ADDRESS}/${PREFIX_LENGTH}`, 'dev', BRIDGE]);
  await mustRun([ip(), 'link', 'set', BRIDGE, 'up']);
}

export interface MachineOptions {
  /** Its own processes and /run too: what containers leave behind ends with the machine. */
  readonly withContainers?: boolean;
}

const PRIVATE_FOLDERS = 'hostname "$1"; mount --bind "$2/etc" /etc; mount --bind "$2/var-lib" /var/lib';
/** How a machine is held: its first process sleeps, or reaps what containers leave behind. */
const HOLDERS = {
  sleep: { namespaces: [], script: `${PRIVATE_FOLDERS}; exec sleep infinity` },
  catatonit: {
    namespaces: ['--pid', '--fork', '--kill-child=KILL', '--mount-proc'],
    script: `${PRIVATE_FOLDERS}; mount -t tmpfs tmpfs /run; exec catatonit -P`,
  },
} as const;

/**
 * A machine of the control plane: namespaces of its own for network, host name and mounts, with an /etc and a /var/lib of its own. A
 * sleeping process holds them, so they end with the test, however it ends.
 */
export class Machine {
  private constructor(
    readonly name: string,
    readonly address: string,
    private readonly dir: string,
    private readonly holder: RigProcess,
    /** A process in its namespaces. */
    private readonly pid: number,
    private readonly hasOwnProcesses: boolean,
  ) {}

  static async create(
    name: string,
    address: string,
    parent: string,
    { withContainers = false }: MachineOptions = {},
  ): Promise<Machine> {
    const dir = join(parent, name);
    prepareFolders(name, address, dir);
    const program = withContainers ? 'catatonit' : 'sleep';
    const { namespaces, script } = HOLDERS[program];
    const holder = new RigProcess({
      name,
      command: 'unshare',
      args: ['--net', '--uts', '--mount', ...namespaces, 'sh', '-ec', script, 'sh', name, dir],
      logFile: join(dir, 'machine.log'),
    });
    const pid = await eventually(`${name} has its namespaces`, () => {
      if (!holder.running) throw new GiveUp(`${name} ended: ${holder.logTail()}`);
      const inside = withContainers ? childOf(holder.pid) : holder.pid;
      return inside !== undefined && readFileSync(`/proc/${inside}/comm`, 'utf8').trim() === program && inside;
    });
    const machine = new Machine(name, address, dir, holder, Number(pid), withContainers);
    await mustRun([ip(), 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)]);
    await mustRun([ip(), 'link', 'set', name, 'master', BRIDGE, 'up']);
    await machine.mustRun(ip(), 'link', 'set', 'lo', 'up');
    await machine.mustRun(ip(), 'address', 'add', `${address}/${PREFIX_LENGTH}`, 'dev', 'eth0');
    await machine.mustRun(ip(), 'link', 'set', 'eth0', 'up');
    return machine;
  }

  /** Where a file of this machine lies for the test. */
  path(path: string): string {
    const [, folder, rest] = /^\/(etc|var\/lib)\/(.+)$/.exec(path) ?? [];
    if (folder === undefined || rest === undefined) throw new Error(`${path} is not private to ${this.name}`);
    return join(this.dir, folder.replace('/', '-'), rest);
  }

  read(path: string): string {
    return readFileSync(this.path(path), 'utf8');
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text, { mode: 0o600 });
  }

  remove(path: string): void {
    rmSync(this.path(path));
  }

  get logDir(): string {
    return join(this.dir, 'logs');
  }

  /** A command line that runs in the namespaces of this machine. */
  inside(command: readonly string[]): string[] {
    const processes = this.hasOwnProcesses ? ['--pid'] : [];
    return ['nsenter', `--target=${this.pid}`, '--net', '--uts', '--mount', ...processes, '--', ...command];
  }

  /** Ends everything that runs on it. */
  async end(): Promise<void> {
    await this.holder.kill();
  }

  run(...command: string[]): Promise<CommandResult> {
    return runCommand(this.inside(command));
  }

  mustRun(...command: string[]): Promise<string> {
    return mustRun(this.inside(command));
  }

  /** As installing packages of a version does. */
  installPrograms(version: KubeVersion): void {
    for (const program of ['kubeadm', 'kubectl'] as const) {
      const link = join(this.#bin, program);
      rmSync(link, { force: true });
      symlinkSync(binaryPath(programName(program, version)), link);
    }
  }

  kubeadm(...args: string[]): Promise<string> {
    return this.mustRun(join(this.#bin, 'kubeadm'), ...args);
  }

  /** Runs a line that an operator types on this machine, as root. */
  typed(line: string): Promise<CommandResult> {
    const script = `PATH=${this.#bin}:$PATH; export KUBECONFIG=/etc/kubernetes/admin.conf; ${line}`;
    return this.run('bash', '-eo', 'pipefail', '-c', script);
  }

  /** Fails where the line does, and returns what it printed. */
  async mustType(line: string): Promise<string> {
    const { code, output } = await this.typed(line);
    if (code !== 0) throw new Error(`${line} ended with ${code} on ${this.name}:\n${output.trim()}`);
    return output;
  }

  get #bin(): string {
    return join(this.dir, 'bin');
  }

  /** Starts a program that goes on. */
  start(name: string, command: readonly [string, ...string[]]): RigProcess {
    const [program, ...args] = this.inside(command);
    return new RigProcess({
      name: `${name} of ${this.name}`,
      command: program!,
      args,
      logFile: join(this.logDir, `${name}.log`),
    });
  }
}

function childOf(pid: number): number | undefined {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return first === undefined || first === '' ? undefined : Number(first);
}

function prepareFolders(name: string, address: string, dir: string): void {
  for (const folder of ['bin', 'etc/kubernetes/manifests', 'var-lib', 'logs'])
    mkdirSync(join(dir, folder), { recursive: true });
  for (const entry of SHARED_CONFIGURATION) {
    const from = join('/etc', entry);
    if (existsSync(from)) cpSync(from, join(dir, 'etc', entry), { recursive: true, verbatimSymlinks: true });
  }
  writeFileSync(join(dir, 'etc', 'hosts'), `127.0.0.1 localhost\n${address} ${name}\n`);
  const command = [process.execPath, ...straddleProgram()].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(dir, 'bin', 'straddle'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
}

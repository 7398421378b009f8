import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from '../real/rig/debian-program.js';

/** The address of the node in its network, as in the recorded manifests of kubeadm. */
export const NODE_ADDRESS = '10.0.0.1';
/** Bounds that a container engine would ask for are above those of some machines. */
const ULIMITS = ['nofile=1024:1024', 'nproc=1000:1000'];
const RUNTIME = 'runc';

export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * buildah and podman with a storage and a network namespace of their own, so that nothing of the machine is used or changed: the
 * namespace has loopback and NODE_ADDRESS on it.
 */
export class ContainerEngine {
  readonly folder = mkdtempSync(join(tmpdir(), 'straddle-image-test-'));
  readonly #namespace = `straddle-image-${process.pid}`;
  readonly #environment: NodeJS.ProcessEnv;

  constructor() {
    for (const program of ['buildah', 'podman', RUNTIME, 'catatonit']) requireProgram(program, program);
    requireProgram('ip', 'iproute2');
    const storage = `[storage]\ndriver = "overlay"\ngraphroot = "${this.folder}/storage"\nrunroot = "${this.folder}/run"\n`;
    writeFileSync(join(this.folder, 'storage.conf'), storage);
    const ulimits = ULIMITS.map((each) => `"${each}"`).join(', ');
    const containers = `[containers]\ndefault_ulimits = [${ulimits}]\n[engine]\nruntime = "${RUNTIME}"\ntmp_dir = "${this.folder}/libpod"\n`;
    writeFileSync(join(this.folder, 'containers.conf'), containers);
    this.#environment = {
      ...process.env,
      CONTAINERS_STORAGE_CONF: join(this.folder, 'storage.conf'),
      CONTAINERS_CONF: join(this.folder, 'containers.conf'),
    };
    this.#ip('netns', 'add', this.#namespace);
    this.#ip('-n', this.#namespace, 'link', 'set', 'lo', 'up');
    this.#ip('-n', this.#namespace, 'address', 'add', `${NODE_ADDRESS}/32`, 'dev', 'lo');
  }

  /** The environment in which buildah uses this storage. */
  get environment(): NodeJS.ProcessEnv {
    return this.#environment;
  }

  /** Runs a program in the network of the node; any end is a result. */
  run(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = this.#environment): Ran {
    const network = `--net=/run/netns/${this.#namespace}`;
    const { error, status, stdout, stderr } = spawnSync('nsenter', [network, '--', program, ...args], {
      encoding: 'utf8',
      env: environment,
      timeout: 120_000,
    });
    if (error !== undefined) throw new Error(`${program} ${args[0]}: ${error.message}`);
    // Without systemd podman cannot set a timer for health checks, and says so on each start.
    const err = stderr.split('\n').filter((line) => !line.includes('unable to get systemd connection'));
    return { status, out: stdout.trim(), err: err.join('\n').trim() };
  }

  /** Returns what podman prints. Throws if it fails. */
  podman(...args: readonly string[]): string {
    const { status, out, err } = this.run('podman', args);
    if (status !== 0) throw new Error(`podman ${args.slice(0, 2).join(' ')} ended with ${status}: ${err || out}`);
    return out;
  }

  inspect<T>(what: 'image' | 'container', name: string): T {
    const [found] = JSON.parse(this.podman(what, 'inspect', name)) as [T];
    return found;
  }

  /** The last lines of a container's log, for messages. */
  logs(container: string): string {
    const { out, err } = this.run('podman', ['logs', '--tail=15', container]);
    return `${out}\n${err}`.trim();
  }

  close(): void {
    this.run('podman', ['pod', 'rm', '--all', '--force', '--time=1']);
    this.run('podman', ['rm', '--all', '--force', '--time=1', '--volumes']);
    this.run('podman', ['image', 'unmount', '--all']);
    spawnSync('ip', ['netns', 'delete', this.#namespace]);
    for (const mount of ['storage/overlay', 'storage']) {
      if (existsSync(join(this.folder, mount))) spawnSync('umount', [join(this.folder, mount)]);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #ip(...args: readonly string[]): void {
    const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
    if (status !== 0)
      throw new Error(
        `a network namespace is needed, and \`ip ${args.join(' ')}\` failed (run as root): ${stderr.trim()}`,
      );
  }
}

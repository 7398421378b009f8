import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A real etcd to test against, if this machine has one. */
export function findEtcd(): string | undefined {
  const named = process.env['STRADDLE_ETCD'];
  if (named !== undefined && named !== '') return named;
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const places = [join(cache, 'straddle', 'real-bin'), ...folders].map((folder) => join(folder, 'etcd'));
  return places.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const NO_ETCD = 'no etcd: not in STRADDLE_ETCD, the rig cache or PATH';

export interface EtcdServer {
  readonly endpoint: string;
  /** Ends it without a word. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface EtcdServerOptions {
  readonly scheme?: 'http' | 'https';
  readonly flags?: readonly string[];
  readonly dataDir?: string;
  /** Only where durability itself is tested: it is slow. */
  readonly fsync?: boolean;
}

export async function startEtcd(binary: string, options: EtcdServerOptions = {}): Promise<EtcdServer> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'straddle-etcd-')));
  const scheme = options.scheme ?? 'http';
  const [client, peer] = await freePorts(2);
  const endpoint = `${scheme}://127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const args = [
    ...['--name', 'test', '--data-dir', join(dataDir, 'etcd'), '--log-level', 'error'],
    ...(options.fsync === true ? [] : ['--unsafe-no-fsync']),
    ...['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
    ...[
      '--listen-peer-urls',
      peerUrl,
      '--initial-advertise-peer-urls',
      peerUrl,
      '--initial-cluster',
      `test=${peerUrl}`,
    ],
    ...(options.flags ?? []),
  ];
  let child = await launch(binary, args, Number(client));
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  };
  return {
    endpoint,
    kill,
    restart: async () => {
      await kill();
      child = await launch(binary, args, Number(client));
    },
    stop: async () => {
      await kill();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function launch(binary: string, args: readonly string[], port: number): Promise<ChildProcess> {
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors = (errors + chunk).slice(-4000);
  });
  const giveUpAtMs = performance.now() + 15_000;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > giveUpAtMs) throw new Error(`etcd did not start: ${errors}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** etcd cannot be asked to pick ports itself. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

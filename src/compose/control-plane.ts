import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { surfaceVersions } from '../apiserver/surfaces/load-surface.js';
import { formatHostPort } from '../config/addresses.js';
import { CONTROLLER_CHOICES } from '../config/api-server-config.js';
import type { FlagName } from '../config/flags.js';
import { loadApiServerConfig, PKI_NAMES } from '../config/load-api-server-config.js';
import type { Machine } from '../config/load-server-config.js';
import { systemClock } from '../core/clock.js';
import type { Logger } from '../observe/logger.js';
import { FrontDoor } from '../plane/front-door.js';
import { ServerProcess } from '../plane/server-process.js';
import { Destinations } from '../transport/destinations.js';
import { OwnRequests } from '../transport/own-requests.js';
import type { ProxyTls } from '../transport/proxy-tls.js';
import { planeKubeconfig } from './admin-kubeconfig.js';
import { makePki, replaceFile } from './pki.js';
import { loadServerTls } from './server-tls.js';

export interface ControlPlaneOptions {
  readonly dataDir: string;
  /** One server each: `1.35`. */
  readonly versions: readonly string[];
  /** The front door's; servers take the following ones. */
  readonly port: number;
  /** The mixed version proxy; without it clients meet the wrong 404s. */
  readonly proxy: boolean;
  readonly etcdServers: readonly string[];
  readonly runtimeConfig: readonly string[];
  /** How this program runs itself: Node's own arguments and the program. */
  readonly self: readonly string[];
  readonly machine: Machine;
  readonly logger: Logger;
  readonly progress: (sentence: string) => void;
}

export interface PlaneServer {
  readonly name: string;
  readonly version: string;
  readonly address: string;
  readonly pid: number;
}

export interface RunningControlPlane {
  readonly front: string;
  readonly kubeconfig: string;
  readonly servers: readonly PlaneServer[];
  /** Resolves with a sentence if a server ends without having been asked. */
  readonly failed: Promise<string>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const READY_MS_MAX = 60_000;
const READY_POLL_MS = 50;
const PROBE_TIMEOUT_MS = 2_000;
const FRONT_GRACE_MS = 5_000;
const LOG_LINES = 5;

/** Several API servers as processes of their own on one store, and a load balancer before them. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<RunningControlPlane> {
  const { dataDir, versions, machine, logger, progress } = options;
  const known = await surfaceVersions();
  for (const version of versions) {
    if (!known.includes(version))
      throw new Error(`--versions: ${version} does not come with Straddle; ${known.join(', ')} do.`);
  }
  await checkPorts(options);
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
  progress('making certificates');
  const flags: [FlagName, string[]][] = [
    ['data-dir', [dataDir]],
    ['server-name', ['front']],
    ['bind-address', [HOST]],
  ];
  const config = loadApiServerConfig(new Map(flags), machine);
  const pki = (await makePki(config))!;
  const tls = await loadServerTls(config, { logger, clock: systemClock });
  const processes: ServerProcess[] = [];
  try {
    const servers = versions.map((version, index) => ({
      name: `server-${index + 1}`,
      version,
      address: formatHostPort({ host: HOST, port: options.port + index + 1 }),
    }));
    for (const server of servers) {
      progress(`starting ${server.name} (Kubernetes ${server.version}) at ${server.address}`);
      processes.push(startServer(options, server));
    }
    await Promise.all(servers.map((server, index) => untilReady(server, processes[index]!, { tls, dataDir })));
    const front = new FrontDoor({
      host: HOST,
      port: options.port,
      servers: servers.map(({ address }) => address),
      tls,
      frontProxyNames: [PKI_NAMES.frontProxyClient],
      clock: systemClock,
      logger,
    });
    const { port } = await front.start().catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EADDRINUSE'
        ? new Error(`Port ${options.port} is in use by another process; choose another with --port.`)
        : error;
    });
    const frontAddress = formatHostPort({ host: HOST, port });
    const kubeconfig = join(dataDir, 'kubeconfig');
    await replaceFile(kubeconfig, planeKubeconfig([{ name: 'front', address: frontAddress }, ...servers], pki));
    return {
      front: frontAddress,
      kubeconfig,
      servers: servers.map((each, index) => ({ ...each, pid: processes[index]!.pid })),
      failed: Promise.race(
        processes.map(async (each) => `${each.name} ended: ${await each.ended} (log: ${logFile(dataDir, each.name)})`),
      ),
      async close() {
        await front.close(FRONT_GRACE_MS);
        await Promise.all(processes.map((each) => each.stop()));
        tls.close();
      },
    };
  } catch (error) {
    await Promise.all(processes.map((each) => each.stop()));
    tls.close();
    throw error;
  }
}

/** Said before anything is started: a server that finds its port taken would say it in its log only. */
async function checkPorts({ port, versions }: ControlPlaneOptions): Promise<void> {
  for (let each = port; each <= port + versions.length; each++) {
    if (await isFree(each)) continue;
    throw new Error(
      `Port ${each} of ${HOST} is in use by another process; ports ${port} to ${port + versions.length} are needed: stop it, or choose another --port.`,
    );
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}

interface Wanted {
  readonly name: string;
  readonly version: string;
  readonly address: string;
}

function startServer(options: ControlPlaneOptions, { name, version, address }: Wanted): ServerProcess {
  const { dataDir, proxy, etcdServers, runtimeConfig, self } = options;
  const flags = [
    `--data-dir=${dataDir}`,
    `--server-name=${name}`,
    `--bind-address=${HOST}`,
    `--secure-port=${address.split(':')[1]}`,
    `--kubernetes-version=${version}`,
    `--feature-gates=UnknownVersionInteroperabilityProxy=${proxy}`,
    `--controllers=${CONTROLLER_CHOICES.join(',')}`,
    '--admin-kubeconfig=',
    '--log-format=json',
    ...etcdServers.map((each) => `--etcd-servers=${each}`),
    ...runtimeConfig.map((each) => `--runtime-config=${each}`),
  ];
  return new ServerProcess({ name, command: [...self, 'apiserver', ...flags], logFile: logFile(dataDir, name) });
}

function logFile(dataDir: string, name: string): string {
  return join(dataDir, 'logs', `${name}.log`);
}

async function untilReady(
  { name, address }: Wanted,
  running: ServerProcess,
  { tls, dataDir }: { readonly tls: ProxyTls; readonly dataDir: string },
): Promise<void> {
  const own = new OwnRequests({ frontProxy: true, userHeader: 'X-Remote-User' });
  const destination = new Destinations(() => tls.peerTls()).make(address);
  const deadlineMs = Date.now() + READY_MS_MAX;
  try {
    for (;;) {
      if (!running.isRunning) throw new Error(`${name} could not start: ${lastLines(logFile(dataDir, name))}`);
      const verdict = await own.probeReady(destination, PROBE_TIMEOUT_MS).catch((error: Error) => error.message);
      if (verdict === true) return;
      if (Date.now() > deadlineMs)
        throw new Error(
          `${name} is not ready after ${READY_MS_MAX / 1000} s: ${verdict} (log: ${logFile(dataDir, name)})`,
        );
      await delay(READY_POLL_MS);
    }
  } finally {
    await destination.close();
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}

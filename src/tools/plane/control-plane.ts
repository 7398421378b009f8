import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { formatHostPort } from '../../base/address.js';
import { systemClock } from '../../base/clock.js';
import { adminKubeconfig } from '../../compose/admin-kubeconfig.js';
import { type MadePki, replaceFile } from '../../compose/pki.js';
import type { Door } from './backends.js';
import { ConnectionDoor } from './connection-door.js';
import { type ControlPlaneOptions, DEFAULT_VERSIONS, PLANE_HOST } from './control-plane-options.js';
import { ControlSocket, controlSocketPath, isSteered } from './control-socket.js';
import { FrontDoor } from './front-door.js';
import type { Member } from './member.js';
import type { PlaneMaterial } from './plane-material.js';
import { checkVersion, planeOfEmbeddedServers } from './plane-of-embedded-servers.js';
import { planeOfUpstreams } from './plane-of-upstreams.js';
import { PLANE_FILE, planeStateText, readPlaneState } from './plane-state.js';
import { type RollOptions, type RollOrder, roll } from './roll.js';

export type PlaneServer = Pick<Member, 'name' | 'version' | 'address' | 'pid'>;

export interface RunningControlPlane {
  readonly front: string;
  readonly kubeconfig: string;
  /** The admin's certificate, and the CA of every server. */
  readonly pki: MadePki;
  /** The current state of the servers. */
  readonly servers: readonly PlaneServer[];
  /** Replaces servers one after the other; resolves with the number of servers replaced. */
  roll(order: RollOrder & Pick<RollOptions, 'again' | 'progress'>): Promise<number>;
  close(): Promise<void>;
}

const KUBECONFIG = 'kubeconfig';
const FRONT_GRACE_MS = 5_000;
const PORTS_TRIED_MAX = 50;

/** Starts API servers and a load balancer. Rejects, with nothing left running, if it cannot. */
export async function startControlPlane(asked: ControlPlaneOptions): Promise<RunningControlPlane> {
  if (await isSteered(controlSocketPath(asked.dataDir)))
    throw new Error(`${asked.dataDir} is in use by another \`straddle up\`; stop that one, or use another --data-dir.`);
  const stateFile = join(asked.dataDir, PLANE_FILE);
  const before = readPlaneState(stateFile);
  const versions = asked.versions ?? before?.versions ?? DEFAULT_VERSIONS;
  const count = asked.upstream?.urls.length ?? versions.length;
  const options = { ...asked, port: await portOf(asked.port, count) };
  makeFolders(options.dataDir);
  // The kubeconfig is written when everything is ready; that of the last run must not remain until then.
  rmSync(join(options.dataDir, KUBECONFIG), { force: true });
  const material = options.upstream
    ? await planeOfUpstreams(options, options.upstream)
    : await planeOfEmbeddedServers(options, versions);
  const { members, tls } = material;
  const doors: Door[] = [];
  const sockets: ControlSocket[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(sockets.map((each) => each.close()));
    await Promise.all(doors.map((each) => each.close(FRONT_GRACE_MS)));
    await Promise.all(members.map((each) => each.stop()));
    await Promise.all(members.map(({ destination }) => destination.close()));
    tls.close();
  };
  try {
    await material.prepare();
    await Promise.all(members.map((member) => start(member, options.progress)));
    const door = openDoor(options, material);
    const { port } = await door.start();
    doors.push(door);
    const remember = (): Promise<void> =>
      options.upstream
        ? Promise.resolve()
        : replaceFile(stateFile, planeStateText({ versions: members.map(({ version }) => version) }));
    await remember();
    const plane = running(options, material, { door, port, close, remember });
    const socket = new ControlSocket(options.dataDir, {
      roll: (order, progress) => plane.roll({ ...order, progress }),
    });
    await socket.listen();
    sockets.push(socket);
    const front = { name: 'front', address: plane.front };
    await replaceFile(plane.kubeconfig, adminKubeconfig([front, ...plane.servers], material.pki));
    return plane;
  } catch (error) {
    await close();
    throw error;
  }
}

function running(
  options: ControlPlaneOptions,
  { members, pki }: PlaneMaterial,
  { door, port, close, remember }: { door: Door; port: number; close(): Promise<void>; remember(): Promise<void> },
): RunningControlPlane {
  let closing: Promise<void> | undefined;
  return {
    front: formatHostPort({ host: PLANE_HOST, port }),
    kubeconfig: join(options.dataDir, KUBECONFIG),
    pki,
    get servers() {
      return members.map(({ name, version, address, pid }) => ({ name, version, address, pid }));
    },
    async roll(order) {
      if (!options.upstream) checkVersion(order.to, '--to');
      return roll({
        ...order,
        members,
        agree: options.proxy,
        async replace(member, version) {
          await member.replace(version);
          await remember();
          await door.look();
        },
      });
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function start(member: Member, progress: (sentence: string) => void): Promise<void> {
  progress(`starting ${member.name}${member.version && ` (Kubernetes ${member.version})`} at ${member.address}`);
  await member.start();
}

function openDoor(options: ControlPlaneOptions, { members, tls, frontProxyNames }: PlaneMaterial): Door {
  const servers = members.map(({ address }) => address);
  const { port, logger } = options;
  const common = { host: PLANE_HOST, port, servers, tls, clock: systemClock };
  return options.balance === 'connection'
    ? new ConnectionDoor(common)
    : new FrontDoor({ ...common, frontProxyNames, logger });
}

function makeFolders(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${dataDir} cannot be used (${code}); choose another --data-dir, or mend its rights.`);
  }
}

/** Checks all ports before the start: a server whose port is in use would only log it. */
async function portOf(port: number, servers: number): Promise<number> {
  if (port === 0) return freePorts(servers);
  for (let each = port; each <= port + servers; each++) {
    if (await isFree(each)) continue;
    throw new Error(
      `Port ${each} of ${PLANE_HOST} is in use by another process; ports ${port} to ${port + servers} are needed: stop it, or choose another --port.`,
    );
  }
  return port;
}

async function freePorts(servers: number): Promise<number> {
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const each = Array.from({ length: servers + 1 }, (_, index) => isFree(port + index));
    if ((await Promise.all(each)).every((free) => free)) return port;
  }
  throw new Error(`No ${servers + 1} free ports in a row were found on ${PLANE_HOST}; give one with --port.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, PLANE_HOST, () => server.close(() => resolve(true)));
  });
}

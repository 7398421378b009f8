import { accessSync, constants, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { formatHostPort } from '../../base/address.js';
import { systemClock } from '../../base/clock.js';
import { fileProblem } from '../../base/file-problem.js';
import { makeFolder } from '../../base/make-folder.js';
import { adminKubeconfig } from '../../compose/admin-kubeconfig.js';
import { type MadePki, replaceFile } from '../../compose/pki.js';
import type { Door } from './backends.js';
import { ConnectionDoor } from './connection-door.js';
import { type ControlPlaneOptions, defaultVersions, PLANE_HOST, PLANE_KUBECONFIG } from './control-plane-options.js';
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

const FRONT_GRACE_MS = 5_000;
const PORTS_TRIED_MAX = 50;

/** Starts API servers and a load balancer. Rejects, with nothing left running, if it cannot. */
export async function startControlPlane(asked: ControlPlaneOptions): Promise<RunningControlPlane> {
  if (await isSteered(controlSocketPath(asked.dataDir)))
    throw new Error(`${asked.dataDir} is in use by another \`straddle up\`; stop that one, or use another --data-dir.`);
  const stateFile = join(asked.dataDir, PLANE_FILE);
  const before = readPlaneState(stateFile);
  const versions = asked.versions ?? before?.versions ?? defaultVersions();
  const count = asked.upstream?.urls.length ?? versions.length;
  const options = { ...asked, port: await portOf(asked.port, count) };
  makeFolders(options.dataDir);
  // The kubeconfig is written when everything is ready; that of the last run must not remain until then.
  rmSync(join(options.dataDir, PLANE_KUBECONFIG), { force: true });
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
      roll: (order, progress) => {
        // Shown where the control plane runs too, not only to whoever gave the order.
        const say = (sentence: string): void => {
          options.progress(sentence);
          progress(sentence);
        };
        options.progress(`roll: ${order.server ?? 'every server'} to ${order.to}`);
        return plane.roll({ ...order, progress: say }).then(
          (replaced) => {
            options.progress(`roll: done, ${replaced === 1 ? '1 server' : `${replaced} servers`} replaced`);
            return replaced;
          },
          (error: Error) => {
            options.note(`roll: ${error.message}`);
            throw error;
          },
        );
      },
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
    kubeconfig: join(options.dataDir, PLANE_KUBECONFIG),
    pki,
    get servers() {
      return members.map(({ name, version, address, pid }) => ({ name, version, address, pid }));
    },
    async roll(order) {
      if (!options.upstream) await checkVersion(order.to, '--to');
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
    makeFolder(join(dataDir, 'logs'));
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new Error(
      `${dataDir} cannot be used (${fileProblem(error)}); choose another --data-dir, or mend its rights.`,
    );
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

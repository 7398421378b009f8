import { type AddressInfo, createServer, type Server } from 'node:net';
import { shippedVersions } from '../../apiserver/surfaces/shipped-versions.js';
import { systemClock } from '../../base/clock.js';
import { createLogger, type Logger, silentLogger } from '../../base/logger.js';
import { PKI_NAMES } from '../../compose/config/load-api-server-config.js';
import { makePki } from '../../compose/pki.js';
import { loadServerTls } from '../../compose/server-tls.js';
import { Destinations } from '../../http/client/destinations.js';
import { FrontDoor } from '../plane/front-door.js';
import { checkOptions } from './check-options.js';
import { readDefinitions } from './crds.js';
import { Network } from './network.js';
import { temporaryFolder } from './temporary-folder.js';
import type { ControlPlane, ControlPlaneOptions } from './test-control-plane.js';
import { TestMember } from './test-member.js';
import { FRONT, type GivenObjects, TestPlane } from './test-plane.js';
import { HOST, serverConfig } from './test-server-config.js';
import { Traffic } from './traffic.js';
import { checkWebhooks } from './webhook-server.js';

/** Bound on retries: a free port may be taken by another process before a server listens on it. */
const PORT_ATTEMPTS_MAX = 3;

/**
 * Starts a control plane in this process: an API server for each version on one store in a temporary folder, and a load
 * balancer before them. Resolves when all are ready and know each other; else rejects, with nothing left behind.
 *
 * @example
 * ```ts
 * const plane = await startControlPlane({ versions: ['1.36', '1.37'], proxy: false });
 * const kubeConfig = new KubeConfig();
 * kubeConfig.loadFromString(plane.kubeconfig);
 * // … the operator under test, with kubeConfig …
 * await plane.roll({ to: '1.37' });
 * await plane.close();
 * ```
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  checkOptions(options);
  const versions = options.versions ?? shippedVersions().slice(-2);
  const given = { definitions: readDefinitions(options.crds ?? []), webhooks: options.webhooks ?? [] };
  checkWebhooks(given.webhooks);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options, versions, given);
    } catch (error) {
      if (attempt === PORT_ATTEMPTS_MAX || !isPortTaken(error)) throw error;
    }
  }
}

async function startOnce(
  options: ControlPlaneOptions,
  versions: readonly string[],
  given: GivenObjects,
): Promise<ControlPlane> {
  const folder = temporaryFolder();
  const network = new Network();
  const traffic = new Traffic();
  const { logger } = runLogger(options, FRONT);
  const members: TestMember[] = [];
  const opened: { close(): void | Promise<void> }[] = [{ close: () => folder.remove() }];
  try {
    const configs = { dataDir: folder.path };
    const frontConfig = serverConfig({ ...configs, name: FRONT, port: 0 }, options, shippedVersions().at(-1)!);
    // Made before the servers start, which then only read the files.
    const pki = (await makePki(frontConfig))!;
    const tls = await loadServerTls(frontConfig, { logger, clock: systemClock });
    opened.push(tls);
    const destinations = new Destinations(() => tls.peerTls());
    const ports = await freePorts(versions.length, HOST);
    for (const [index, version] of versions.entries()) {
      const name = `server-${index + 1}`;
      const place = { ...configs, name, port: ports[index]! };
      const address = `${HOST}:${place.port}`;
      network.join(name, address);
      const member = new TestMember({
        name,
        version,
        address,
        network,
        destination: destinations.make(address),
        intercept: traffic.filterOf(name),
        configOf: (wanted) => serverConfig(place, options, wanted),
        makeLogger: () => runLogger(options, name),
        lookAround: () => front.look(),
      });
      members.push(member);
      opened.push(member);
    }
    const front = new FrontDoor({
      host: HOST,
      port: 0,
      servers: members.map(({ address }) => address),
      tls,
      frontProxyNames: [PKI_NAMES.frontProxyClient],
      clock: systemClock,
      logger,
      reach: network.reachFrom(FRONT),
    });
    await Promise.all(members.map((member) => member.start()));
    opened.push({ close: () => front.close(0) });
    const { port } = await front.start();
    const plane = new TestPlane({
      members,
      network,
      front,
      frontAddress: `${HOST}:${port}`,
      pki,
      tls,
      folder,
      traffic,
      proxy: options.proxy ?? true,
    });
    // From here on it closes all of them.
    opened.splice(0, opened.length, plane);
    await plane.prepare(given);
    return plane;
  } catch (error) {
    for (const each of opened.reverse()) await each.close();
    throw error;
  }
}

function runLogger({ logLevel = 'silent' }: ControlPlaneOptions, server: string): { logger: Logger; mute(): void } {
  if (logLevel === 'silent') return { logger: silentLogger, mute: () => {} };
  let muted = false;
  const write = (line: string): void => {
    if (!muted) process.stderr.write(line);
  };
  const logger = createLogger({ level: logLevel, format: 'text', write, nowMs: () => Date.now() }, { server });
  return {
    logger,
    mute: () => {
      muted = true;
    },
  };
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
}

/** Returns ports that are not in use. All are held until the last is found, so that they differ. */
async function freePorts(count: number, host: string): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => listen(host)));
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listen(host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, host, () => resolve(server));
  });
}

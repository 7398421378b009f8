import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { chosenServers } from './chosen-servers.js';
import { converged } from './converged.js';
import { EmbeddedServer } from './embedded-server.js';
import type { Etcd } from './etcd.js';
import { freePort } from './free-port.js';
import { writeKubeconfig } from './kubeconfig.js';
import { Kubectl } from './kubectl.js';
import { adoptAuthority, type Pki } from './pki.js';
import { type Layout, type Plane, SERVER_NAMES, type ServerName } from './plane.js';
import { olderSettings } from './skew.js';

/** One server twice: as it is run, and by itself with the mixed version proxy switched off, on the same store. */
export interface EmbeddedPair {
  readonly name: ServerName;
  readonly kube: EmbeddedServer;
  readonly straddle: EmbeddedServer;
}

export interface EmbeddedPlaneOptions {
  readonly dir: string;
  /** For what else a scenario runs. */
  readonly etcd: Etcd;
  /** An etcd of its own to store in, instead of the embedded store. */
  readonly storeIn?: Etcd;
  readonly say?: (line: string) => void;
}

/** Servers live on 127.0.0.41, .42, .43. */
const FIRST_ADDRESS = 41;

type UserPki = Pick<Pki, 'ca' | 'users'>;

/** Three `straddle apiserver` on one store and one data folder, whose certificates they make themselves. No kube-apiserver. */
export class EmbeddedPlane implements Plane {
  readonly isOneProcess = true;
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;

  private constructor(
    readonly dir: string,
    readonly pki: UserPki,
    readonly etcd: Etcd,
    readonly servers: Readonly<Record<ServerName, EmbeddedPair>>,
    private readonly say: (line: string) => void,
  ) {
    this.kubeconfig = join(dir, 'kubeconfig');
    this.kubectl = new Kubectl(this.kubeconfig, dir);
    writeKubeconfig(this.kubeconfig, {
      pki,
      current: 'straddle-a',
      clusters: Object.fromEntries(
        this.all.flatMap(({ name, kube, straddle }) => [
          [`straddle-${name}`, straddle.url],
          [`raw-${name}`, kube.url],
        ]),
      ),
    });
  }

  /** Server A runs afterwards; `arrange` brings the others. */
  static async create(options: EmbeddedPlaneOptions): Promise<EmbeddedPlane> {
    const { dir, etcd, storeIn, say = () => {} } = options;
    const dataDir = join(dir, 'data');
    mkdirSync(dataDir, { recursive: true });
    const made: { pki?: UserPki } = {};
    const pki = (): UserPki => {
      made.pki ??= readPki(dir, dataDir);
      return made.pki;
    };
    const pair = async (name: ServerName, index: number): Promise<EmbeddedPair> => {
      const address = `127.0.0.${FIRST_ADDRESS + index}`;
      const shared = { address, dir, dataDir, pki, ...(storeIn && { etcdUrl: storeIn.url }) };
      const server = async (kind: string, withPeers: boolean): Promise<EmbeddedServer> =>
        new EmbeddedServer({
          ...shared,
          name: `${kind}${name}`,
          serverName: `${kind}node-${name}`,
          port: await freePort(address),
          withPeers,
        });
      return { name, kube: await server('raw-', false), straddle: await server('', true) };
    };
    const servers = { a: await pair('a', 0), b: await pair('b', 1), c: await pair('c', 2) };
    await servers.a.straddle.startFirst(olderSettings(chosenServers().a));
    say(`straddle apiserver a is ready at ${servers.a.straddle.url}`);
    return new EmbeddedPlane(dir, pki(), etcd, servers, say);
  }

  get all(): EmbeddedPair[] {
    return SERVER_NAMES.map((name) => this.servers[name]);
  }

  get a(): EmbeddedPair {
    return this.servers.a;
  }

  get b(): EmbeddedPair {
    return this.servers.b;
  }

  get c(): EmbeddedPair {
    return this.servers.c;
  }

  /** Settings of a kube-apiserver are those of the embedded server; flags of a Straddle go to the one with peers only. */
  async arrange(layout: Layout): Promise<void> {
    const pairs = this.all.map(({ name, kube, straddle }) => ({
      settings: layout.kube[name],
      roles: [
        { server: straddle, flags: layout.straddle[name] },
        { server: kube, flags: {} },
      ],
    }));
    const wrong = pairs.flatMap(({ settings, roles }) =>
      roles.flatMap(({ server, flags }) => {
        const wanted = settings && flags ? { settings, flags } : undefined;
        const isThere = server.running && wanted !== undefined;
        const fits = isDeepStrictEqual({ settings: server.settings, flags: server.flags }, wanted);
        return (isThere && fits) || (!server.running && !wanted) ? [] : [{ server, wanted }];
      }),
    );
    await Promise.all(
      wrong.map(async ({ server, wanted }) => {
        await server.stop();
        if (wanted === undefined) return;
        const startedMs = Date.now();
        await server.start(wanted.settings, wanted.flags);
        this.say(
          `straddle apiserver ${server.options.name} (${wanted.settings.version}) is ready after ${Date.now() - startedMs} ms at ${server.url}`,
        );
      }),
    );
    const present = this.all.filter(({ kube, straddle }) => kube.running && straddle.running);
    if (present.length > 1) await converged(present);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.flatMap(({ kube, straddle }) => [straddle.stop(), kube.stop()]));
  }
}

/** The authority that the servers have made, and users of it. */
function readPki(dir: string, dataDir: string): UserPki {
  const text = readFileSync(join(dataDir, 'pki', 'ca.pem'), 'utf8');
  const block = (label: string): string =>
    new RegExp(`-----BEGIN ${label}-----[^]*?-----END ${label}-----\n`).exec(text)?.[0] ?? '';
  const issued = join(dir, 'pki');
  mkdirSync(issued, { recursive: true });
  const ca = adoptAuthority(issued, 'ca', { certPem: block('CERTIFICATE'), keyPem: block('PRIVATE KEY') });
  return {
    ca,
    users: {
      admin: ca.issue('admin', { commonName: 'rig-admin', organizations: ['system:masters'] }),
      alice: ca.issue('alice', { commonName: 'alice', organizations: ['developers'] }),
    },
  };
}

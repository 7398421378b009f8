import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { converged } from './converged.js';
import { type Etcd, startEtcd } from './etcd.js';
import { freePort } from './free-port.js';
import { KubeApiserver } from './kube-apiserver.js';
import { writeKubeconfig } from './kubeconfig.js';
import { Kubectl } from './kubectl.js';
import { createPki, type Pki } from './pki.js';
import { FURTHER_NAMES, type FurtherName, type Layout, type Plane, SERVER_NAMES, type ServerName } from './plane.js';
import { runStraddle, Straddle } from './straddle.js';

export {
  AGGREGATED_V2,
  type Layout,
  layoutOf,
  layoutOfFive,
  SERVER_NAMES,
  type ServerName,
  withNative,
} from './plane.js';

/** One server: a kube-apiserver and the Straddle before it, on one address as on one machine. */
export interface Server<Name extends ServerName | FurtherName = ServerName> {
  readonly name: Name;
  readonly hostname: string;
  readonly kube: KubeApiserver;
  readonly straddle: Straddle;
}

const LAST_STOP_MS = 4_000;
/** Servers live on 127.0.0.11 to .15: each its own address, as machines have. */
const FIRST_ADDRESS = 11;

/** etcd, three kube-apiservers (or five) and a Straddle before each, in one folder. */
export class ControlPlane implements Plane {
  readonly isOneProcess = false;
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  /** The layouts that were asked for, the present one last; the runner takes them out. */
  readonly arranged: Layout[] = [];
  private hasRights = false;

  private constructor(
    readonly dir: string,
    readonly pki: Pki,
    readonly etcd: Etcd,
    readonly servers: Readonly<Record<ServerName, Server>>,
    private readonly further: readonly Server<FurtherName>[],
    private readonly say: (line: string) => void,
  ) {
    this.kubeconfig = join(dir, 'kubeconfig');
    this.kubectl = new Kubectl(this.kubeconfig, dir);
    writeKubeconfig(this.kubeconfig, {
      pki,
      current: 'straddle-a',
      clusters: Object.fromEntries(
        this.every.flatMap(({ name, kube, straddle }) => [
          [`straddle-${name}`, straddle.url],
          [`raw-${name}`, kube.url],
        ]),
      ),
    });
  }

  static async create(
    dir: string,
    say: (line: string) => void = () => {},
    { servers: count = 3 }: { readonly servers?: 3 | 5 } = {},
  ): Promise<ControlPlane> {
    mkdirSync(dir, { recursive: true });
    const pki = createPki(join(dir, 'pki'));
    const etcd = await startEtcd(dir);
    say(`etcd is up at ${etcd.url}`);
    const server = async <Name extends ServerName | FurtherName>(name: Name, index: number): Promise<Server<Name>> => {
      const address = `127.0.0.${FIRST_ADDRESS + index}`;
      const hostname = `node-${name}`;
      const shared = { name, hostname, address, dir, pki };
      const kube = new KubeApiserver({ ...shared, port: await freePort(address), etcdUrl: etcd.url });
      const straddle = new Straddle({ ...shared, port: await freePort(address), upstreamUrl: kube.url });
      return { name, hostname, kube, straddle };
    };
    const servers = { a: await server('a', 0), b: await server('b', 1), c: await server('c', 2) };
    const further: Server<FurtherName>[] = [];
    if (count === 5) for (const [i, name] of FURTHER_NAMES.entries()) further.push(await server(name, 3 + i));
    return new ControlPlane(dir, pki, etcd, servers, further, say);
  }

  get all(): Server[] {
    return SERVER_NAMES.map((name) => this.servers[name]);
  }

  /** With the two that only a larger control plane has. */
  get every(): Server<ServerName | FurtherName>[] {
    return [...this.all, ...this.further];
  }

  get a(): Server {
    return this.servers.a;
  }

  get b(): Server {
    return this.servers.b;
  }

  get c(): Server {
    return this.servers.c;
  }

  /** Brings the control plane to the layout, whatever a scenario left behind, and waits until all Straddles agree. */
  async arrange(layout: Layout): Promise<void> {
    this.arranged.push(layout);
    await this.arrangeKube(layout);
    if (!this.hasRights) await this.grantRights();
    await this.arrangeStraddles(layout);
    const present = this.every.filter(({ name }) => layout.straddle[name] !== undefined);
    // A Straddle that has not seen yet that its server is back sends to peers what that server should get.
    const served = present.filter(({ name }) => layout.kube[name] !== undefined);
    await Promise.all(served.map(({ straddle }) => straddle.servesLocally()));
    if (present.length > 1) await this.converged(present);
  }

  /** All these Straddles answer the same merged discovery, and it holds what each kube-apiserver serves. */
  converged(servers: readonly Server<ServerName | FurtherName>[] = this.every, timeoutMs?: number): Promise<string> {
    return converged(servers, timeoutMs);
  }

  /** The end: nothing of it is needed afterwards, so nobody is waited for long. */
  async stop(): Promise<void> {
    await Promise.all(this.every.map(({ straddle }) => straddle.process?.stop(LAST_STOP_MS)));
    await Promise.all(this.every.map(({ kube }) => kube.process?.stop(LAST_STOP_MS)));
    await this.etcd.process.stop(LAST_STOP_MS);
  }

  private async arrangeKube(layout: Layout): Promise<void> {
    const wrong = this.every.filter(({ name, kube }) => {
      const wanted = layout.kube[name];
      return wanted === undefined ? kube.running : !kube.running || !isDeepStrictEqual(kube.settings, wanted);
    });
    await Promise.all(
      wrong.map(async ({ name, kube }) => {
        const startedMs = Date.now();
        if ((await kube.stop()) !== undefined)
          this.say(`kube-apiserver ${name} had stopped after ${seconds(startedMs)}`);
      }),
    );
    // One after another: three at once on two cores make each other late, and the first one writes the bootstrap objects.
    for (const { name, kube } of wrong) {
      const wanted = layout.kube[name];
      if (wanted === undefined) continue;
      const startedMs = Date.now();
      await kube.start(wanted);
      this.say(`kube-apiserver ${name} (${wanted.version}) is ready after ${seconds(startedMs)} at ${kube.url}`);
    }
  }

  private async arrangeStraddles(layout: Layout): Promise<void> {
    const wrong = this.every.filter(({ name, straddle }) => {
      const wanted = layout.straddle[name];
      return wanted === undefined ? straddle.running : !straddle.running || !isDeepStrictEqual(straddle.flags, wanted);
    });
    await Promise.all(
      wrong.map(async ({ name, kube, straddle }) => {
        // A Straddle that has not seen its server come back cannot delete its lease, which `straddle check` then reports.
        if (layout.straddle[name] === undefined && kube.running) await straddle.ready().catch(() => {});
        await straddle.stop();
      }),
    );
    await Promise.all(
      wrong.map(async ({ name, straddle }) => {
        const wanted = layout.straddle[name];
        if (wanted === undefined) return;
        const startedMs = Date.now();
        await straddle.start(wanted);
        this.say(`straddle ${name} is ready after ${seconds(startedMs)} at ${straddle.url}`);
      }),
    );
  }

  /** Straddle's own rights, as an operator would grant them. */
  private async grantRights(): Promise<void> {
    const manifest = runStraddle('rbac');
    if (manifest.code !== 0) throw new Error(`straddle rbac ended with ${manifest.code}: ${manifest.stderr}`);
    const running = this.every.find(({ kube }) => kube.running);
    if (running === undefined) throw new Error('no kube-apiserver runs');
    await this.kubectl.run({ context: `raw-${running.name}`, input: manifest.stdout }, 'apply', '-f', '-');
    this.hasRights = true;
  }
}

function seconds(sinceMs: number): string {
  return `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;
}

import { execFileSync } from 'node:child_process';
import { Agent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { ControlPlane, eventually, proxyFlags } from '../integration/control-plane.js';
import { COMMON, FakeApiServer, type Served } from '../integration/fake-apiserver.js';
import { type Answer, type Ask, ask } from '../integration/https-client.js';
import { isAlive, StraddleProcess } from '../integration/straddle-process.js';

const ALL = 'create delete get list patch update watch';
/** Whoever switches passthrough is asked for by that review. */
export const OLD: Served = { ...COMMON, 'authentication.k8s.io/v1/selfsubjectreviews': 'create' };
export const NEW: Served = { ...OLD, 'scheduling.io/v1/podgroups': ALL };
export const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
export const PODGROUPS = '/apis/scheduling.io/v1/namespaces/default/podgroups';

/** The times of production instead of those that tests can wait for. */
const REAL_TIMES = { 'surface-refresh': '', 'peer-gone-after': '', 'shutdown-grace': '2s' };
/** That of Prometheus. */
const SCRAPE_MS_MAX = 10_000;
/** A server that hangs must not hold up those that do not. */
const LOAD_MS_MAX = 1_000;

/** A server with its Straddle, in this process or in one of its own. */
interface Server {
  readonly api: FakeApiServer;
  port: number;
  process: StraddleProcess | undefined;
  stop(): Promise<unknown>;
}

/** Some servers and a client, for a recording. */
export class Stage {
  readonly plane = new ControlPlane();
  readonly servers = new Map<string, Server>();
  /** Paths that clients ask each server for. */
  paths: readonly string[] = [CONFIGMAPS, PODGROUPS, '/apis'];
  /** As clients of Kubernetes do, connections are kept. */
  readonly #agent = new Agent({ keepAlive: true });
  /** Requests at the same time for each path. */
  clients = 1;

  async add(name: string, served: Served, flags: Readonly<Record<string, string>> = {}): Promise<void> {
    const member = await this.plane.add(name, served, { ...REAL_TIMES, ...flags });
    const { api, straddle } = member;
    const stop = () => member.straddle.close();
    this.servers.set(name, { api, port: straddle.port, process: undefined, stop });
  }

  async addProcess(name: string, served: Served, flags: Readonly<Record<string, string>> = {}): Promise<void> {
    const { certificates, storage } = this.plane;
    const api = new FakeApiServer(certificates, storage, served);
    await api.start();
    const started = new StraddleProcess(proxyFlags(certificates, name, api, { ...REAL_TIMES, ...flags }));
    const server: Server = {
      api,
      port: await started.port(),
      process: started,
      stop: async () => {
        const { process: running } = server;
        if (!running || !isAlive(running.pid)) return;
        running.signal('SIGKILL');
        await running.exit;
      },
    };
    this.servers.set(name, server);
  }

  /** Kills the process of a server and starts another one at its port. */
  async restartProcess(name: string, flags: Readonly<Record<string, string>> = {}): Promise<void> {
    const server = this.server(name);
    await server.stop();
    const { certificates } = this.plane;
    const again = { ...REAL_TIMES, ...flags, 'secure-port': String(server.port) };
    server.process = new StraddleProcess(proxyFlags(certificates, name, server.api, again));
    await server.process.port();
  }

  server(name: string): Server {
    const server = this.servers.get(name);
    if (!server) throw new Error(`there is no server ${name}`);
    return server;
  }

  /** The process of a server that has one of its own. */
  processOf(name: string): StraddleProcess {
    const { process: running } = this.server(name);
    if (!running) throw new Error(`${name} has no process of its own`);
    return running;
  }

  limitFiles(name: string, max: number): void {
    execFileSync('prlimit', [`--pid=${this.processOf(name).pid}`, `--nofile=${max}:${max}`]);
  }

  /** Until every Straddle uses so many peers. */
  async sees(peers: number): Promise<void> {
    for (const name of this.servers.keys()) {
      await eventually(
        `${name} to use ${peers} peers`,
        async () => new Set((await this.#page(name))?.match(/(?<=straddle_peer_usable\{peer=")[^"]*(?=".* 1$)/gm)).size,
        (count) => count === peers,
        30_000,
      );
    }
  }

  ask(name: string, path: string, options: Ask = {}): Promise<Answer> {
    return ask({ port: this.server(name).port, ca: this.plane.certificates.ca.pem }, path, options);
  }

  /** One request for each path to every Straddle; whatever comes of it. */
  async load(): Promise<void> {
    const asking = [...this.servers.keys()].flatMap((name) =>
      this.paths.flatMap((path) =>
        Array.from({ length: this.clients }, () =>
          this.ask(name, path, { headers: { Authorization: 'Bearer alice-token' }, agent: this.#agent }),
        ),
      ),
    );
    await Promise.race([Promise.allSettled(asking), delay(LOAD_MS_MAX)]);
  }

  async scrape(): Promise<ReadonlyMap<string, string | undefined>> {
    const names = [...this.servers.keys()];
    const pages = await Promise.all(names.map((name) => this.#page(name)));
    return new Map(names.map((name, i) => [name, pages[i]]));
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.servers.values()].map(({ stop }) => stop()));
    await Promise.allSettled([...this.servers.values()].map(({ api }) => api.stop()));
    this.#agent.destroy();
    this.plane.certificates.remove();
  }

  async #page(name: string): Promise<string | undefined> {
    const late = delay(SCRAPE_MS_MAX, undefined);
    const read = this.ask(name, '/metrics', { headers: { Authorization: 'Bearer alice-token' } }).then(
      ({ status, text }) => (status === 200 ? text : undefined),
      () => undefined,
    );
    return Promise.race([read, late]);
  }
}

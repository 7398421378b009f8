import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, GiveUp } from './eventually.js';
import { call, type Endpoint } from './http-client.js';
import type { KubeSettings } from './kube-apiserver.js';
import type { Pki } from './pki.js';
import { type Exit, RigProcess } from './process.js';
import { straddleProgram } from './program.js';
import type { StraddleFlags } from './straddle.js';

export interface EmbeddedServerOptions {
  readonly name: string;
  readonly serverName: string;
  readonly address: string;
  readonly port: number;
  /** For its log. */
  readonly dir: string;
  /** Shared by all servers of the control plane. */
  readonly dataDir: string;
  /** The servers store there instead of in the data folder. */
  readonly etcdUrl?: string;
  /** Certificates are made by the first server, so they are known only once one has started. */
  readonly pki: () => Pick<Pki, 'ca' | 'users'>;
  /** With the chain's mixed version proxy, as by default; without, it stands for a server by itself. */
  readonly withPeers: boolean;
}

const READY_TIMEOUT_MS = 60_000;

/** One `straddle apiserver` as its own process. Address and port stay the same over restarts, version and flags need not. */
export class EmbeddedServer {
  process: RigProcess | undefined;
  settings: KubeSettings | undefined;
  flags: StraddleFlags = {};

  constructor(readonly options: EmbeddedServerOptions) {}

  get url(): string {
    return `https://${this.options.address}:${this.options.port}`;
  }

  get running(): boolean {
    return this.process?.running === true;
  }

  get anonymous(): Endpoint {
    return { url: this.url, ca: this.options.pki().ca.certPem };
  }

  get admin(): Endpoint {
    return { ...this.anonymous, clientCert: this.options.pki().users.admin };
  }

  /** Starts the process and returns at once; `ready` waits. */
  launch(settings: KubeSettings, flags: StraddleFlags = {}): void {
    const { name, dir } = this.options;
    this.settings = settings;
    this.flags = flags;
    const all = Object.entries({ ...this.baseFlags(settings), ...flags });
    this.process = new RigProcess({
      name: `straddle apiserver ${name}`,
      command: process.execPath,
      args: [
        ...straddleProgram(),
        'apiserver',
        ...all.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}=${value}`])),
        // What a kube-apiserver needs a gate for is only a version that is off by default here.
        ...settings.flags.filter((flag) => flag.startsWith('--runtime-config=')),
      ],
      logFile: join(dir, `apiserver-${name}.log`),
    });
  }

  async start(settings: KubeSettings, flags: StraddleFlags = {}): Promise<void> {
    this.launch(settings, flags);
    await this.ready();
  }

  /** The first of all: it makes the certificates, and the kubeconfig when it is ready. */
  async startFirst(settings: KubeSettings, flags: StraddleFlags = {}): Promise<void> {
    const kubeconfig = join(this.options.dataDir, 'kubeconfig');
    rmSync(kubeconfig, { force: true });
    this.launch(settings, flags);
    await eventually('the kubeconfig is written', () => this.isAlive() && existsSync(kubeconfig), {
      timeoutMs: READY_TIMEOUT_MS,
    });
    await this.ready();
  }

  async ready(): Promise<void> {
    await eventually(
      `${this.process?.name} is ready (log: ${this.process?.options.logFile})`,
      async () => {
        this.isAlive();
        const answer = await call(this.admin, '/readyz?verbose', { timeoutMs: 3_000 });
        if (answer.status !== 200) throw new Error(answer.text.slice(-400));
        return true;
      },
      { timeoutMs: READY_TIMEOUT_MS },
    );
  }

  async stop(): Promise<Exit | undefined> {
    return this.process?.stop();
  }

  async kill(): Promise<Exit | undefined> {
    return this.process?.kill();
  }

  private isAlive(): true {
    const { process } = this;
    if (!process?.running) throw new GiveUp(`${this.options.name} ended:\n${process?.logTail()}`);
    return true;
  }

  private baseFlags({ version }: KubeSettings): StraddleFlags {
    const { serverName, address, port, dataDir, etcdUrl, withPeers } = this.options;
    return {
      'data-dir': dataDir,
      'server-name': serverName,
      'bind-address': address,
      'secure-port': String(port),
      'kubernetes-version': version.slice(1, version.lastIndexOf('.')),
      'etcd-servers': etcdUrl,
      'feature-gates': withPeers ? undefined : 'UnknownVersionInteroperabilityProxy=false',
      // Scenarios that want controllers name them.
      controllers: '',
      'log-format': 'json',
    };
  }
}

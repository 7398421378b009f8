import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { eventually, GiveUp } from './eventually.js';
import { call, type Endpoint } from './http-client.js';
import { type KeyPair, type Pki, servingHosts } from './pki.js';
import { type Exit, RigProcess } from './process.js';
import { straddleProgram } from './program.js';

/** Flags by name without dashes; undefined leaves one out that the rig would set. */
export type StraddleFlags = Readonly<Record<string, string | undefined>>;

export interface StraddleOptions {
  readonly name: string;
  readonly hostname: string;
  readonly address: string;
  readonly port: number;
  readonly dir: string;
  readonly upstreamUrl: string;
  readonly pki: Pki;
  /** The Node.js program that runs it; by default the one that runs the rig. */
  readonly nodeProgram?: string;
}

const READY_TIMEOUT_MS = 30_000;

/** One Straddle before one kube-apiserver, as its own process. */
export class Straddle {
  process: RigProcess | undefined;
  /** What this run was given beyond the rig's own flags. */
  flags: StraddleFlags = {};
  private servingCert: KeyPair | undefined;

  constructor(readonly options: StraddleOptions) {}

  get url(): string {
    return `https://${this.options.address}:${this.options.port}`;
  }

  get running(): boolean {
    return this.process?.running === true;
  }

  get admin(): Endpoint {
    return { ...this.anonymous, clientCert: this.options.pki.users.admin };
  }

  get alice(): Endpoint {
    return { ...this.anonymous, clientCert: this.options.pki.users.alice };
  }

  get anonymous(): Endpoint {
    return { url: this.url, ca: this.options.pki.ca.certPem };
  }

  get stateDir(): string {
    return join(this.options.dir, `state-${this.options.name}`);
  }

  /** Starts the process and returns at once; `ready` waits. */
  launch(flags: StraddleFlags = {}): RigProcess {
    const { name, dir, hostname } = this.options;
    this.flags = flags;
    const all = Object.entries({ ...this.baseFlags(), ...flags });
    this.process = new RigProcess({
      name: `straddle ${name}`,
      command: this.options.nodeProgram ?? process.execPath,
      args: [
        ...straddleProgram(),
        'proxy',
        ...all.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}=${value}`])),
      ],
      logFile: join(dir, `straddle-${name}.log`),
      hostname,
    });
    return this.process;
  }

  async start(flags: StraddleFlags = {}): Promise<void> {
    this.launch(flags);
    await this.ready();
  }

  async ready(): Promise<void> {
    const { process } = this;
    if (process === undefined) throw new Error(`straddle ${this.options.name} was never started`);
    await eventually(
      `${process.name} is ready (log: ${process.options.logFile})`,
      async () => {
        if (!process.running) throw new GiveUp(`${process.name} ended:\n${process.logTail()}`);
        const answer = await call(this.admin, '/readyz?verbose', { timeoutMs: 3_000 });
        if (answer.status !== 200) throw new Error(answer.text.slice(-400));
        return true;
      },
      { timeoutMs: READY_TIMEOUT_MS },
    );
  }

  /** Waits until it sends requests to its own server again; `/readyz` is good as soon as a peer can take them. */
  async servesLocally(): Promise<void> {
    await this.ready();
    await eventually(
      `straddle ${this.options.name} uses its own server`,
      async () => {
        const metrics = await call(this.admin, '/metrics', { timeoutMs: 3_000 });
        return /^straddle_host_ready 1$/m.test(metrics.text);
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

  private baseFlags(): StraddleFlags {
    const { name, hostname, address, port, upstreamUrl, pki } = this.options;
    this.servingCert ??= pki.ca.issue(`straddle-${name}`, { commonName: 'straddle', hosts: servingHosts(address) });
    return {
      upstream: upstreamUrl,
      'server-name': hostname,
      'state-dir': this.stateDir,
      'bind-address': address,
      'advertise-address': address,
      'secure-port': String(port),
      'tls-cert-file': this.servingCert.certFile,
      'tls-private-key-file': this.servingCert.keyFile,
      'client-ca-file': pki.ca.certFile,
      'requestheader-client-ca-file': pki.frontProxyCa.certFile,
      'requestheader-allowed-names': 'front-proxy-client',
      'proxy-client-cert-file': pki.frontProxyClient.certFile,
      'proxy-client-key-file': pki.frontProxyClient.keyFile,
      'peer-ca-file': pki.ca.certFile,
      'log-format': 'json',
      workers: severalWorkers(),
    };
  }
}

/** Every scenario must hold with several processes too: `STRADDLE_REAL_WORKERS=2` says how many. */
function severalWorkers(): string | undefined {
  return process.env['STRADDLE_REAL_WORKERS'];
}

/** Runs a `straddle` command that ends by itself. */
export function runStraddle(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const run = spawnSync(process.execPath, [...straddleProgram(), ...args], { encoding: 'utf8', timeout: 30_000 });
  return { code: run.status, stdout: run.stdout, stderr: run.stderr };
}

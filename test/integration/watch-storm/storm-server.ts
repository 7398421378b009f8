import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Access } from './access.js';
import type { StormServer } from './storm.js';

const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 5;

export interface ServerProcessOptions {
  /** Arguments of Node.js before `apiserver`. */
  readonly program: readonly string[];
  readonly dataDir: string;
}

/** `straddle apiserver` with nothing but a data folder, as a process that can be killed. */
export class ServerProcess implements StormServer {
  #child!: ChildProcess;
  #log = '';

  private constructor(
    private readonly options: ServerProcessOptions,
    private readonly port: number,
  ) {}

  static async start(options: ServerProcessOptions): Promise<ServerProcess> {
    const server = new ServerProcess(options, await freePort());
    await server.#launch();
    return server;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get access(): Access {
    const text = readFileSync(this.#kubeconfig, 'utf8');
    const data = (name: string): string => {
      const [, value = ''] = new RegExp(`${name}: (\\S+)`).exec(text) ?? [];
      return Buffer.from(value, 'base64').toString('utf8');
    };
    return {
      url: `https://127.0.0.1:${this.port}`,
      caPem: data('certificate-authority-data'),
      certPem: data('client-certificate-data'),
      keyPem: data('client-key-data'),
    };
  }

  async killAndRestart(): Promise<void> {
    await this.kill();
    await this.#launch();
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }

  get #kubeconfig(): string {
    return join(this.options.dataDir, 'kubeconfig');
  }

  /** The kubeconfig appears when the server is ready. */
  async #launch(): Promise<void> {
    const { program, dataDir } = this.options;
    rmSync(this.#kubeconfig, { force: true });
    const flags = [`--data-dir=${dataDir}`, `--secure-port=${this.port}`, '--bind-address=127.0.0.1', '--controllers='];
    const child = spawn(process.execPath, [...program, 'apiserver', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    child.stderr.on('data', (chunk) => {
      this.#log = (this.#log + chunk).slice(-4000);
    });
    const deadlineMs = Date.now() + READY_TIMEOUT_MS;
    while (!existsSync(this.#kubeconfig)) {
      if (child.exitCode !== null || Date.now() > deadlineMs) throw new Error(`the server did not start: ${this.#log}`);
      await delay(POLL_MS);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' && bound !== null ? bound.port : 0));
    });
  });
}

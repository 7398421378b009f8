import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FakePlane } from '../tools/inspect/inspected-plane.fixture.js';
import { runStraddle } from './program.js';
import type { Surroundings } from './surroundings.js';

export interface CommandRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Commands that look at a plane of fake servers, with a kubeconfig: context `good` is server a, `gone` is nobody. */
export class InspectCommands {
  /** Removed by `close`. */
  readonly dir = mkdtempSync(join(tmpdir(), 'straddle-inspect-'));
  readonly #kubeconfig = join(this.dir, 'config');
  readonly environment = { KUBECONFIG: this.#kubeconfig };
  readonly #plane: FakePlane;

  constructor(plane: FakePlane) {
    this.#plane = plane;
  }

  /** The servers must run. */
  writeKubeconfig(): void {
    const cluster = {
      server: `https://${this.#plane.address('a')}`,
      'certificate-authority-data': Buffer.from(this.#plane.ca.pem).toString('base64'),
    };
    const config = {
      kind: 'Config',
      'current-context': 'good',
      clusters: [
        { name: 'good', cluster },
        { name: 'gone', cluster: { ...cluster, server: 'https://127.0.0.99:9' } },
      ],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: ['good', 'gone'].map((name) => ({ name, context: { cluster: name, user: 'u' } })),
    };
    writeFileSync(this.#kubeconfig, JSON.stringify(config));
  }

  async run(argv: readonly string[], more: Partial<Surroundings> = {}): Promise<CommandRun> {
    let out = '';
    let err = '';
    const never = () => Promise.reject(new Error('not expected'));
    const code = await runStraddle(
      argv,
      {
        stdout: (text) => {
          out += text;
        },
        stderr: (text) => {
          err += text;
        },
        stderrIsTerminal: false,
        environment: this.environment,
        homeDirectory: '/nowhere',
        hostname: 'here',
        addresses: [],
        readFile: (path) => readFileSync(path, 'utf8'),
        writeFile: () => {},
        nowMs: Date.now,
        onStopSignal: () => () => {},
        outlastTerminal: () => {},
        exitNow: () => {},
        ...more,
      },
      { proxy: never, apiServer: never, controlPlane: never, rehearse: never, testControlPlane: never },
    );
    return { code, out, err };
  }

  async close(): Promise<void> {
    await this.#plane.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestCertificate } from '../../../src/http/tls/pki.fixture.js';
import { type Certificates, makeCertificates } from '../certificates.js';
import { eventually, type LogLine } from '../control-plane.js';
import { temporaryDirectory } from '../embedded-server.js';
import { type Answer, type Ask, ask } from '../https-client.js';
import { START_MS_MAX } from '../straddle-process.js';
import type { TurnReport } from './turn-probe.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PROBE = join(import.meta.dirname, 'turn-probe.ts');

export interface Measured {
  readonly answer: Answer;
  readonly turns: TurnReport;
}

/** `straddle apiserver` from the sources in a process of its own that reports the CPU time of its event loop's turns. */
export class ProbedServer {
  readonly #certificates: Certificates = makeCertificates();
  readonly #store = temporaryDirectory();
  readonly #admin: TestCertificate = this.#certificates.user('admin', 'system:masters');
  readonly #log: LogLine[] = [];
  readonly #said: string[] = [];
  readonly #child: ChildProcess;
  #port = 0;

  constructor(nodeFlags: readonly string[] = []) {
    const { file } = this.#certificates;
    const flags = {
      'data-dir': this.#store.path,
      'server-name': 'a',
      'bind-address': '127.0.0.1',
      'secure-port': '0',
      controllers: '',
      'tls-cert-file': file('server.crt'),
      'tls-private-key-file': file('server.key'),
      'client-ca-file': file('ca.crt'),
      'requestheader-client-ca-file': file('front-proxy-ca.crt'),
      'requestheader-allowed-names': 'front-proxy-client',
      'proxy-client-cert-file': file('front-proxy-client.crt'),
      'proxy-client-key-file': file('front-proxy-client.key'),
      'peer-ca-file': file('ca.crt'),
    };
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const program = ['--expose-gc', ...nodeFlags, '--import', 'tsx', '--import', PROBE, join(ROOT, 'src/cli/main.ts')];
    this.#child = spawn(process.execPath, [...program, 'apiserver', ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\n')) {
        if (line.startsWith('{') && line.endsWith('}')) this.#log.push(JSON.parse(line) as LogLine);
        else if (line !== '') this.#said.push(line);
      }
    });
  }

  async serving(): Promise<void> {
    const line = await eventually(
      'the API server serving',
      () => this.#log.find(({ msg }) => msg === 'serving') ?? (this.#child.exitCode === null ? undefined : 'ended'),
      (found) => found !== undefined,
      START_MS_MAX,
    );
    if (line === 'ended') throw new Error(`straddle ended: ${this.#said.join('\n')}`);
    this.#port = (line as LogLine)['port'] as number;
  }

  send(path: string, options: Ask = {}): Promise<Answer> {
    return ask({ port: this.#port, ca: this.#certificates.ca.pem }, path, { as: this.#admin, ...options });
  }

  /** The answer to one request while nothing else is asked, and the turns of the event loop it took. */
  async measure(path: string, options: Ask = {}): Promise<Measured> {
    await this.#told('collect');
    this.#child.send('begin');
    const answer = await this.send(path, options);
    return { answer, turns: (await this.#told('end')) as TurnReport };
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGTERM');
    await ended;
    this.#store.remove();
    this.#certificates.remove();
  }

  #told(message: 'collect' | 'end'): Promise<unknown> {
    const answer = new Promise((resolve) => this.#child.once('message', resolve));
    this.#child.send(message);
    return answer;
  }
}

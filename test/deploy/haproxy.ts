import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ask } from '../integration/https-client.js';
import { runProgram } from '../interop/run-program.js';
import { eventually } from '../real/rig/eventually.js';
import { freePort } from '../real/rig/free-port.js';
import { RigProcess } from '../real/rig/process.js';
import type { DeployCase } from './deploy-case.js';
import { CONFIGMAPS, NEW, OLD, Stage } from './stage.js';

const CONFIG_FILE = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url));
const NAMES = ['cp-1', 'cp-2', 'cp-3'];
/** A client of the load balancer gives a request up after this; Kubernetes' clients wait longer. */
const CLIENT_MS_MAX = 3_000;
/** Two checks that get no answer: two intervals and two times the wait for an answer, and some room for a busy machine. */
const NOTICED_MS_MAX = 12_000;

/** The shipped configuration with addresses and the CA of a test in it; every setting stays. */
function configFor(
  text: string,
  { port, servers, caFile }: { port: number; servers: readonly string[]; caFile: string },
) {
  const replaced: string[] = [];
  const replace = (from: string, to: string) => {
    if (!text.includes(from)) throw new Error(`${CONFIG_FILE} has no "${from}"`);
    text = text.replace(from, to);
    replaced.push(from);
  };
  replace('bind :6443', `bind 127.0.0.1:${port}`);
  replace('ca-file /etc/kubernetes/pki/ca.crt', `ca-file ${caFile}`);
  for (const [i, address] of servers.entries()) replace(`10.0.0.${i + 1}:6443`, address);
  return text;
}

/** Three Straddles as processes, behind HAProxy with the shipped configuration. */
class Balanced {
  readonly stage = new Stage();
  readonly folder = mkdtempSync(join(tmpdir(), 'straddle-haproxy-'));
  readonly configFile = join(this.folder, 'haproxy.cfg');
  port = 0;
  haproxy: RigProcess | undefined;

  async start(program: string): Promise<void> {
    for (const name of NAMES) await this.stage.addProcess(name, name === 'cp-1' ? OLD : NEW);
    await this.stage.sees(NAMES.length - 1);
    this.port = await freePort('127.0.0.1');
    const servers = NAMES.map((name) => `127.0.0.1:${this.stage.server(name).port}`);
    const caFile = this.stage.plane.certificates.file('ca.crt');
    const shipped = readFileSync(CONFIG_FILE, 'utf8');
    writeFileSync(this.configFile, configFor(shipped, { port: this.port, servers, caFile }));
    const logFile = join(this.folder, 'haproxy.log');
    this.haproxy = new RigProcess({ name: 'haproxy', command: program, args: ['-db', '-f', this.configFile], logFile });
    await eventually('a reply through HAProxy', async () => (await this.request()) === 200).catch((error: Error) => {
      throw new Error(`${error.message}; HAProxy said:\n${this.haproxy?.logTail()}`);
    });
  }

  /** The status of a GET on a connection of its own; 0 without a reply in time. */
  async request(): Promise<number> {
    const where = { port: this.port, ca: this.stage.plane.certificates.ca.pem };
    const asked = ask(where, CONFIGMAPS, { headers: { Authorization: 'Bearer alice-token' } });
    const answered = asked.then(({ status }) => status).catch(() => 0);
    return Promise.race([answered, delay(CLIENT_MS_MAX, 0)]);
  }

  /** Asks every 50 ms for that long; the times at which a request began that failed. */
  async failuresDuring(ms: number): Promise<{ readonly asked: number; readonly failedAtMs: readonly number[] }> {
    const beganMs = performance.now();
    const failedAtMs: number[] = [];
    const asking: Promise<void>[] = [];
    while (performance.now() - beganMs < ms) {
      const atMs = performance.now() - beganMs;
      asking.push(
        this.request().then((status) => {
          if (status !== 200) failedAtMs.push(atMs);
        }),
      );
      await delay(50);
    }
    await Promise.all(asking);
    return { asked: asking.length, failedAtMs };
  }

  async close(): Promise<void> {
    await this.haproxy?.stop();
    await this.stage.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What is done to one of the three, and what clients of HAProxy may notice. */
interface Event {
  readonly name: string;
  act(balanced: Balanced): Promise<void> | void;
  readonly watchedMs: number;
  /** No request that begins later than this may fail; 0: none at all. */
  readonly failuresUntilMs: number;
}

const EVENTS: readonly Event[] = [
  {
    name: 'its API server is down: it stays in, and peers answer',
    act: ({ stage }) => stage.server('cp-2').api.stop(),
    watchedMs: 5_000,
    failuresUntilMs: 0,
  },
  {
    name: 'the Straddle ends on SIGTERM',
    act: ({ stage }) => stage.processOf('cp-2').signal('SIGTERM'),
    watchedMs: 6_000,
    // A connection that is in its TLS handshake at that moment is closed.
    failuresUntilMs: 1_000,
  },
  {
    name: 'the Straddle is killed',
    act: ({ stage }) => stage.processOf('cp-2').signal('SIGKILL'),
    watchedMs: 6_000,
    // A connection may have been accepted in the moment of its end.
    failuresUntilMs: 1_000,
  },
  {
    name: 'the Straddle hangs (SIGSTOP)',
    act: ({ stage }) => stage.processOf('cp-2').signal('SIGSTOP'),
    watchedMs: NOTICED_MS_MAX + 4_000,
    failuresUntilMs: NOTICED_MS_MAX,
  },
  {
    name: 'passthrough is on and its API server is down: it leaves',
    act: async ({ stage }) => {
      const headers = { Authorization: 'Bearer alice-token' };
      const body = { on: true, reason: 'test' };
      const { status } = await stage.ask('cp-2', '/straddle/passthrough', { method: 'POST', headers, body });
      if (status !== 200) throw new Error(`the switch answered ${status}`);
      await stage.server('cp-2').api.stop();
    },
    watchedMs: NOTICED_MS_MAX + 4_000,
    failuresUntilMs: NOTICED_MS_MAX,
  },
];

export function haproxyCases(program: string): DeployCase[] {
  return [
    { name: 'haproxy -c: the configuration is valid', run: () => isValid(program) },
    ...EVENTS.map((event) => ({ name: `haproxy: ${event.name}`, run: () => survives(program, event) })),
  ];
}

async function isValid(program: string): Promise<undefined> {
  const stage = new Stage();
  const folder = mkdtempSync(join(tmpdir(), 'straddle-haproxy-'));
  try {
    const servers = NAMES.map((_, i) => `127.0.0.1:${i + 1}`);
    const file = join(folder, 'haproxy.cfg');
    const caFile = stage.plane.certificates.file('ca.crt');
    writeFileSync(file, configFor(readFileSync(CONFIG_FILE, 'utf8'), { port: 6443, servers, caFile }));
    const { stderr } = await runProgram(program, ['-c', '-f', file]);
    if (/WARNING/.test(stderr)) throw new Error(stderr);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await stage.close();
  }
}

async function survives(program: string, { act, watchedMs, failuresUntilMs }: Event): Promise<string> {
  const balanced = new Balanced();
  try {
    await balanced.start(program);
    const before = await balanced.failuresDuring(2_000);
    if (before.failedAtMs.length > 0)
      throw new Error(`${before.failedAtMs.length} requests failed before anything was done`);
    await act(balanced);
    const { asked, failedAtMs } = await balanced.failuresDuring(watchedMs);
    const lastMs = Math.round(Math.max(0, ...failedAtMs));
    const told = `${asked} requests, ${failedAtMs.length} failed${failedAtMs.length > 0 ? `, the last begun after ${lastMs} ms` : ''}`;
    if (failedAtMs.length > 0 && lastMs >= failuresUntilMs)
      throw new Error(`${told}; at most until ${failuresUntilMs} ms`);
    return told;
  } finally {
    await balanced.close();
  }
}

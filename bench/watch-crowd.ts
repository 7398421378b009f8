import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { within } from '../test/real/rig/eventually.js';
import { call, type Endpoint, keepAliveAgent } from '../test/real/rig/http-client.js';
import { preciseNowMs, type WatchAnswer, type WatchOrder, type WatchQuestion, WRITTEN_AT } from './watch-process.js';

const PROGRAM = fileURLToPath(new URL('./watch-process.ts', import.meta.url));
const OPEN_TIMEOUT_MS = 120_000;
/** After the last write; an event later than that counts as lost. */
const LAST_EVENT_TIMEOUT_MS = 30_000;
const WRITERS_MAX = 16;

export interface CrowdOptions {
  /** Where the watches go. */
  readonly server: Endpoint & { readonly token: string };
  /** Where objects are written, for every crowd the same. */
  readonly writeTo: Endpoint;
  readonly collection: string;
  /** Names of objects that exist; each is watched by `watchersEach`. */
  readonly names: readonly string[];
  readonly watchersEach: number;
  readonly perConnection: number;
}

/** Watches of objects by name, all in one process, and the writes that they wait for. */
export class WatchCrowd {
  readonly #options: CrowdOptions;
  readonly #child: ChildProcess;
  /** Kept from one delivery to the next: an event must not wait for its writer to connect. */
  readonly #writers = keepAliveAgent(WRITERS_MAX);
  #next = 0;

  private constructor(options: CrowdOptions, child: ChildProcess) {
    this.#options = options;
    this.#child = child;
  }

  static async open(options: CrowdOptions): Promise<WatchCrowd> {
    const { server, writeTo, collection, names, watchersEach, perConnection } = options;
    const now = (await call(writeTo, `${collection}?limit=1`)).json().metadata?.resourceVersion;
    const watched = names.flatMap((name) => Array.from({ length: watchersEach }, () => name));
    const child = fork(PROGRAM, [], { execArgv: ['--import', 'tsx'] });
    const crowd = new WatchCrowd(options, child);
    const order: WatchOrder = {
      url: server.url,
      ca: server.ca,
      token: server.token,
      paths: watched.map(
        (name) =>
          `${collection}?watch=true&timeoutSeconds=1800&resourceVersion=${now}&fieldSelector=metadata.name%3D${name}`,
      ),
      texts: watched.map((name) => `"name":"${name}"`),
      perConnection,
    };
    await crowd.#ask({ open: order }, `${watched.length} watches at ${server.url}`, OPEN_TIMEOUT_MS);
    return crowd;
  }

  /** Writes at a steady pace and answers how long after its write each event came, in milliseconds. */
  async deliver({ writesPerSecond, seconds }: { writesPerSecond: number; seconds: number }): Promise<number[]> {
    const { names, watchersEach, collection, writeTo } = this.#options;
    const writes = Math.round(writesPerSecond * seconds);
    const begunMs = preciseNowMs();
    const sent = Array.from({ length: writes }, async (_, i) => {
      await delay((i * 1000) / writesPerSecond);
      const name = names[this.#next++ % names.length]!;
      const answer = await call(writeTo, `${collection}/${name}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { metadata: { annotations: { [WRITTEN_AT]: String(preciseNowMs()) } } },
        agent: this.#writers,
      });
      if (answer.status !== 200) throw new Error(`PATCH ${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
    });
    const what = `${writes * watchersEach} events of ${writes} writes`;
    const timeoutMs = seconds * 1000 + LAST_EVENT_TIMEOUT_MS;
    const [answered] = await Promise.all([this.#ask({ collect: writes * watchersEach }, what, timeoutMs), ...sent]);
    if (answered.kind !== 'delivered')
      throw new Error(`${what}: ${answered.kind} after ${preciseNowMs() - begunMs} ms`);
    return [...answered.latenciesMs];
  }

  close(): void {
    this.#writers.destroy();
    this.#child.removeAllListeners();
    this.#child.kill('SIGKILL');
  }

  #ask(question: WatchQuestion, what: string, timeoutMs: number): Promise<WatchAnswer> {
    const asked = new Promise<WatchAnswer>((resolve, reject) => {
      this.#child.removeAllListeners();
      this.#child.once('exit', (code) => reject(new Error(`the process of the watches ended with ${code}`)));
      this.#child.on('message', (answer: WatchAnswer) => {
        if (answer.kind === 'failed') reject(new Error(answer.why));
        else resolve(answer);
      });
      this.#child.send(question);
    });
    return within(what, timeoutMs, asked);
  }
}

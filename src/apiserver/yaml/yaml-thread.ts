import { Worker } from 'node:worker_threads';
import { BODY_BYTES_MAX, BODY_VALUES_MAX } from '../contracts/size-bounds.js';

/** Longer YAML is read and written in a worker thread. */
export const YAML_INLINE_BYTES_MAX = 32 * 1024;
/** Bound on the time to parse one document; the document is refused then. */
export const YAML_THREAD_MS_MAX = 10_000;
/** Bound on the time to write one document, which may be a list of many megabytes. */
export const YAML_DUMP_MS_MAX = 60_000;
const YAML_THREAD_MEGABYTES_MAX = 2_048;
/** Bound on the size of a document after its aliases are expanded. */
export const YAML_UNFOLDED_CHARS_MAX = 2 * BODY_BYTES_MAX;

export interface ParsedYaml {
  /** The document as JSON, unless there is a problem. */
  readonly text?: string;
  readonly problem?: string;
  /** The first line that names a member again. */
  readonly duplicateAtLine?: number;
}

/** The answer of the thread; `bytes` are those of a written document. */
interface ThreadAnswer extends ParsedYaml {
  readonly bytes?: Uint8Array;
}

interface Job {
  readonly message: object;
  readonly timeoutMs: number;
  readonly resolve: (answer: ThreadAnswer) => void;
}

const TOO_MUCH: ThreadAnswer = { problem: 'document takes too much time or memory to be read' };

/** One document at a time; the thread lives while there is work. Jobs are bounded by the number of requests in flight. */
class YamlThread {
  readonly #jobs: Job[] = [];
  #worker: Worker | undefined;
  #deadline: NodeJS.Timeout | undefined;

  do(message: object, timeoutMs: number): Promise<ThreadAnswer> {
    return new Promise((resolve) => {
      this.#jobs.push({ message, timeoutMs, resolve });
      if (this.#jobs.length === 1) this.#start();
    });
  }

  #start(): void {
    const job = this.#jobs[0];
    if (!job) {
      void this.#end();
      return;
    }
    this.#worker ??= this.#open();
    this.#worker.postMessage(job.message);
    this.#deadline = setTimeout(() => this.#giveUp(), job.timeoutMs);
  }

  #open(): Worker {
    const worker = new Worker(new URL('./yaml-worker.cjs', import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: YAML_THREAD_MEGABYTES_MAX },
    });
    worker.on('message', (answer: ThreadAnswer) => this.#finish(answer));
    worker.on('error', () => this.#giveUp());
    return worker;
  }

  #finish(answer: ThreadAnswer): void {
    clearTimeout(this.#deadline);
    this.#jobs.shift()?.resolve(answer);
    this.#start();
  }

  /** The thread cannot be interrupted: it is ended, and the next document gets a new one. */
  #giveUp(): void {
    void this.#end();
    this.#finish(TOO_MUCH);
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.removeAllListeners();
    worker?.on('error', () => {});
    await worker?.terminate();
  }
}

const thread = new YamlThread();

export function parseInThread(text: string): Promise<ParsedYaml> {
  const bounds = { valuesMax: BODY_VALUES_MAX, charsMax: YAML_UNFOLDED_CHARS_MAX };
  return thread.do({ work: 'parse', text, ...bounds }, YAML_THREAD_MS_MAX);
}

/** The YAML of a JSON text; undefined where it takes too much time or memory. */
export async function dumpInThread(json: Buffer): Promise<Buffer | undefined> {
  const { bytes } = await thread.do({ work: 'dump', json }, YAML_DUMP_MS_MAX);
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

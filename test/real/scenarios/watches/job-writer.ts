import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type Call, call, type Endpoint, type KubeObject, keepAliveAgent } from '../../rig/http-client.js';

/** An event that every watcher has to get. */
export interface WrittenEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly name: string;
  /** Undefined where the answer did not contain it. */
  readonly resourceVersion: string | undefined;
}

export interface JobWriterOptions {
  /** Further fields of the spec of each Job. */
  readonly spec?: object;
  /** Between two writes. */
  readonly pauseMs?: number;
}

const PAUSE_MS = 20;
const RETRY_MS = 200;
const RETRIES_MAX = 100;

export const jobsIn = (namespace: string): string => `/apis/batch/v1/namespaces/${namespace}/jobs`;

/** `more`: further fields of the spec. */
export function job(name: string, more: object = {}): KubeObject {
  const container = { name: 'main', image: 'example.test/nothing' };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } }, ...more },
  };
}

/**
 * Creates, changes twice and deletes Jobs, one write after another. A write whose outcome is not known is sent again; each is
 * such that the second one changes nothing if the first was carried out. So the events and their order are known.
 */
export class JobWriter {
  readonly #endpoint: Endpoint;
  readonly #collection: string;
  readonly #agent = keepAliveAgent(1);
  readonly #written: WrittenEvent[] = [];
  readonly #running: Promise<void>;
  #stopped = false;
  #failure: Error | undefined;

  constructor(
    endpoint: Endpoint,
    namespace: string,
    private readonly options: JobWriterOptions = {},
  ) {
    this.#endpoint = endpoint;
    this.#collection = jobsIn(namespace);
    this.#running = this.#run().catch((error: Error) => {
      this.#failure = error;
    });
  }

  /** The events of all writes so far, in their order. Throws if a write was refused. */
  get written(): readonly WrittenEvent[] {
    if (this.#failure) throw this.#failure;
    return this.#written;
  }

  /** Resolves after the write under way. */
  async stop(): Promise<readonly WrittenEvent[]> {
    this.#stopped = true;
    await this.#running;
    this.#agent.destroy();
    return this.written;
  }

  async #run(): Promise<void> {
    for (let round = 0; !this.#stopped; round++) await this.#life(`written-${round}`);
  }

  async #life(name: string): Promise<void> {
    const path = `${this.#collection}/${name}`;
    const headers = { 'content-type': 'application/merge-patch+json' };
    const label = (step: string): Call => ({ method: 'PATCH', headers, body: { metadata: { labels: { step } } } });
    await this.#write('ADDED', name, this.#collection, { method: 'POST', body: job(name, this.options.spec) }, 409);
    await this.#write('MODIFIED', name, path, label('one'));
    await this.#write('MODIFIED', name, path, label('two'));
    await this.#write('DELETED', name, path, { method: 'DELETE', body: { propagationPolicy: 'Background' } }, 404);
  }

  /** `whenDone`: the status of the same write for the second time. */
  async #write(
    type: WrittenEvent['type'],
    name: string,
    path: string,
    request: Call,
    whenDone?: number,
  ): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#send(path, request);
      if (answer?.status === 200 || answer?.status === 201) {
        // Deletion is answered with the object of before, or with a Status.
        const resourceVersion = type === 'DELETED' ? undefined : answer.json().metadata?.resourceVersion;
        this.#written.push({ type, name, resourceVersion });
        break;
      }
      if (attempt > 0 && answer !== undefined && answer.status === whenDone) {
        this.#written.push({ type, name, resourceVersion: undefined });
        break;
      }
      const isPassing = answer === undefined || answer.status === 503 || answer.status === 429;
      if (!isPassing || attempt === RETRIES_MAX) {
        throw new Error(`${request.method} ${path}: ${answer?.status ?? 'no answer'} ${answer?.text.slice(0, 500)}`);
      }
      await delay(RETRY_MS);
    }
    await delay(this.options.pauseMs ?? PAUSE_MS);
  }

  #send(path: string, request: Call): Promise<Answer | undefined> {
    return call(this.#endpoint, path, { ...request, agent: this.#agent }).catch(() => undefined);
  }
}

import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Backend, KeyEvent, Watch } from '../storage/backend.js';
import { isStorageError } from '../storage/storage-error.js';

/** Receives the events of one prefix in revision order. */
export interface FeedReceiver {
  take(event: KeyEvent): void;
  /** Events were lost, because history was compacted before it was read: the receiver must read everything again. */
  reset(): void;
}

export interface StoreFeedOptions {
  readonly backend: Backend;
  /** `/registry/`, the prefix of all keys. */
  readonly root: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RETRY_MS = 250;
/** Timeout of a read that waits for a revision, as in kube-apiserver. */
const WAIT_MS_MAX = 3_000;

/**
 * The only watch of this process on the store, to which the caches of resources subscribe. All caches are
 * at its revision.
 */
export class StoreFeed {
  readonly #options: StoreFeedOptions;
  readonly #receivers = new Map<string, FeedReceiver>();
  readonly #waiters = new Set<Waiter>();
  #watch: Watch | undefined;
  #revision = 0;
  #closed = false;
  #done: Promise<void> = Promise.resolve();
  #beginning: () => void = () => {};
  /** Resolves when the feed runs. A read before that would wait for events in vain. */
  readonly started: Promise<void>;

  constructor(options: StoreFeedOptions) {
    this.#options = options;
    this.started = new Promise((resolve) => {
      this.#beginning = resolve;
    });
  }

  /** All events up to this revision have been passed to the receivers. */
  get revision(): number {
    return this.#revision;
  }

  async start(): Promise<void> {
    this.#revision = await this.#options.backend.currentRevision();
    this.#done = this.#run();
    this.#beginning();
  }

  /** Subscribes from the next event on. The caller reads the state before it. */
  subscribe(prefix: string, receiver: FeedReceiver): void {
    this.#receivers.set(prefix, receiver);
  }

  unsubscribe(prefix: string): void {
    this.#receivers.delete(prefix);
  }

  /** Resolves to true once the feed has reached a revision, to false after a timeout. */
  waitFor(revision: number): Promise<boolean> {
    if (this.#revision >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (arrived: boolean) => {
        cancel();
        this.#waiters.delete(waiter);
        resolve(arrived);
      };
      const waiter: Waiter = { revision, settle };
      const cancel = this.#options.clock.after(WAIT_MS_MAX, () => settle(false));
      this.#waiters.add(waiter);
      this.#watch?.requestProgress();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    for (const waiter of this.#waiters) waiter.settle(false);
    await this.#done;
  }

  async #run(): Promise<void> {
    const { backend, root, logger, clock } = this.#options;
    while (!this.#closed) {
      try {
        this.#watch = backend.watch(root, { fromRevision: this.#revision + 1 });
        for await (const batch of this.#watch) this.#takeBatch(batch.events, batch.revision);
      } catch (error) {
        if (this.#closed) return;
        if (isStorageError(error, 'compacted')) await this.#startOver();
        else logger.warn('the watch on the store failed; retrying', { error });
      }
      if (!this.#closed) await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    }
  }

  async #startOver(): Promise<void> {
    try {
      this.#revision = await this.#options.backend.currentRevision();
    } catch {
      return;
    }
    this.#options.logger.warn('history of the store was compacted before it was read; reading everything again');
    for (const receiver of this.#receivers.values()) receiver.reset();
  }

  #takeBatch(events: readonly KeyEvent[], revision: number): void {
    for (const event of events) this.#receiverOf(event)?.take(event);
    if (revision <= this.#revision) return;
    this.#revision = revision;
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.settle(true);
  }

  /** Prefixes are `/registry/<resource>/` or `/registry/<group>/<resource>/`. */
  #receiverOf(event: KeyEvent): FeedReceiver | undefined {
    const key = event.type === 'put' ? event.current.key : event.key;
    const first = key.indexOf(SLASH, this.#options.root.length);
    if (first < 0) return undefined;
    const receiver = this.#receivers.get(key.toString('utf8', 0, first + 1));
    if (receiver) return receiver;
    const second = key.indexOf(SLASH, first + 1);
    return second < 0 ? undefined : this.#receivers.get(key.toString('utf8', 0, second + 1));
  }
}

interface Waiter {
  readonly revision: number;
  settle(arrived: boolean): void;
}

const SLASH = 0x2f;

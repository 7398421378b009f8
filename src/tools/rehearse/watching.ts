import type { Clock } from '../../base/clock.js';
import { metadataOf } from '../../kube/metadata-of.js';
import type { ApiConnection, WatchEnd } from './api-connection.js';
import type { HalfRecord } from './half-record.js';
import { pause, repeat } from './pause.js';

export interface WatchingOptions {
  readonly who: string;
  readonly api: ApiConnection;
  /** Path of a collection, without a query. */
  readonly collection: string;
  /** Returns whether some server serves the collection, so that a broken watch is a finding. */
  readonly isServed: () => boolean;
  readonly record: HalfRecord;
  readonly clock: Clock;
}

/** Time after the acknowledgement of a write from which its event counts as lost. */
const LOST_AFTER_MS = 10_000;
const LOOK_EVERY_MS = 1_000;
const RETRY_MS = 500;
const REVISIONS_MAX = 5_000;
/** Duration of a watch, as client libraries request it. */
const WATCH_SECONDS = 300;

/**
 * A watch at the front door, resumed from the last event whenever it ends, as informers do. It counts
 * as broken, once until it is open again, if it is cut, refused as unknown, too old to be resumed, or
 * if an acknowledged write has no event. An orderly end, even with 503s before the resumption, is no finding.
 */
export class Watching {
  readonly #options: WatchingOptions;
  readonly #stop = new AbortController();
  readonly #seen = new Set<string>();
  readonly #expected = new Map<string, number>();
  #resourceVersion = '';
  /** The resource version of the first list; older events are not expected. */
  #since = 0;
  #openSinceMs: number | undefined;
  #isBroken = false;
  #done: Promise<void> = Promise.resolve();

  constructor(options: WatchingOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  /** Expects the event of an acknowledged write with this version. */
  expect(resourceVersion: string): void {
    if (this.#resourceVersion === '' || Number(resourceVersion) <= this.#since) return;
    if (this.#seen.has(resourceVersion)) return;
    bounded(this.#expected, REVISIONS_MAX).set(resourceVersion, this.#options.clock.nowMs());
  }

  async #run(): Promise<void> {
    const { api, collection, clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#resourceVersion === '' && !(await this.#list())) {
        await pause(clock, RETRY_MS, signal);
        continue;
      }
      const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${this.#resourceVersion}`;
      const over = new AbortController();
      void repeat(clock, LOOK_EVERY_MS, over.signal, async () => this.#lookForLost());
      const end = await api.watch(`${collection}?${query}`, {
        signal,
        onOpen: () => {
          this.#openSinceMs = clock.nowMs();
          this.#isBroken = false;
        },
        onEvent: ({ type, object }) => this.#take(type, String(metadataOf(object)['resourceVersion'] ?? '')),
      });
      over.abort();
      this.#openSinceMs = undefined;
      const why = this.#options.isServed() ? complaint(end) : undefined;
      if (why !== undefined && !this.#isBroken) this.#complain(why);
      if (!signal.aborted && end.how !== 'in order') await pause(clock, RETRY_MS, signal);
    }
  }

  async #list(): Promise<boolean> {
    const { api, collection } = this.#options;
    const answer = await api.request({ method: 'GET', target: `${collection}?limit=1` }).catch(() => undefined);
    if (answer?.status !== 200) return false;
    this.#resourceVersion = String(metadataOf(answer.body)['resourceVersion'] ?? '');
    this.#since = Number(this.#resourceVersion);
    return this.#resourceVersion !== '';
  }

  #take(type: string, resourceVersion: string): void {
    // The version is too old to resume from: events in between are lost.
    if (type === 'ERROR') {
      this.#resourceVersion = '';
      this.#expected.clear();
      this.#complain('told of an error');
      return;
    }
    this.#resourceVersion = resourceVersion;
    if (type === 'BOOKMARK') return;
    this.#expected.delete(resourceVersion);
    bounded(this.#seen, REVISIONS_MAX).add(resourceVersion);
  }

  #lookForLost(): void {
    const nowMs = this.#options.clock.nowMs();
    const hasHadTime = (sinceMs: number): boolean => sinceMs + LOST_AFTER_MS < nowMs;
    if (this.#openSinceMs === undefined || !hasHadTime(this.#openSinceMs)) return;
    const lost = [...this.#expected].filter(([, atMs]) => hasHadTime(atMs)).map(([revision]) => revision);
    if (lost.length === 0) return;
    for (const revision of lost) this.#expected.delete(revision);
    this.#complain(`never told of ${lost.length} writes, such as at ${lost[0]}`);
  }

  #complain(why: string): void {
    const { who, collection, record } = this.#options;
    this.#isBroken = true;
    record.brokenWatch(`${who}: watch of ${collection} ${why}`);
  }
}

function complaint(end: WatchEnd): string | undefined {
  if (end.how === 'in order') return undefined;
  if (end.how === 'cut') return `was cut: ${end.why}`;
  // 503 and 429 ask the client to retry.
  return end.status === 503 || end.status === 429 ? undefined : `was refused: ${end.status} ${end.why}`;
}

/** Removes the oldest member if the collection is full. */
function bounded<C extends Set<string> | Map<string, number>>(members: C, max: number): C {
  if (members.size >= max) {
    const [oldest] = members.keys();
    if (oldest !== undefined) members.delete(oldest);
  }
  return members;
}

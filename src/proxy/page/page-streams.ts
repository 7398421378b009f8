import type { Clock } from '../../base/clock.js';
import { BodyStream } from '../../http/body-stream.js';
import { StatusError } from '../../kube/status-error.js';
import type { PageHub } from './page-hub.js';
import {
  eventBytes,
  type FlowPosition,
  flowPosition,
  flowUpdate,
  type PageSnapshot,
  SECTION_NAMES,
  type SectionName,
  sectionEvent,
  stateBytes,
} from './page-snapshot.js';

/** Streams of a process. */
export const PAGE_STREAMS_MAX = 64;
/** Streams of one caller. */
export const PAGE_STREAMS_PER_CALLER_MAX = 8;
/** A stream ends after this time; the browser opens another one, and its rights are checked again. */
export const STREAM_LIFE_MS_MAX = 15 * 60_000;
/** A client that has taken nothing for this long is left. Until then it is skipped, and gets the newest state afterwards. */
export const STREAM_STALLED_MS_MAX = 30_000;
/** What the browser waits before it opens another stream. */
const RETRY_MS = 2_000;
/** The first event, around the state, which all readers share. */
const BEFORE_STATE = Buffer.from(`retry: ${RETRY_MS}\nevent: state\ndata: `);
const AFTER_STATE = Buffer.from('\n\n');

export interface PageStreamsOptions {
  readonly hub: Pick<PageHub, 'snapshot' | 'subscribe'>;
  readonly clock: Clock;
  readonly onLimit: (limit: 'page-streams' | 'page-stream-stalled') => void;
}

/** The open streams of a process, each of server-sent events for one client. */
export class PageStreams {
  readonly #options: PageStreamsOptions;
  readonly #streams = new Set<PageStream>();
  readonly #perCaller = new Map<string, number>();
  #closed = false;

  constructor(options: PageStreamsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream for a caller that may read the page. `reserve` counts the memory of its unsent bytes. Rejects with a
   * StatusError: 429 at a bound, 503 at the end.
   */
  async open(caller: string, reserve: (bytes: number) => Promise<void> | undefined): Promise<BodyStream> {
    this.#take(caller);
    try {
      const first = await this.#options.hub.snapshot();
      const state = stateBytes(first);
      await reserve(BEFORE_STATE.byteLength + state.byteLength + AFTER_STATE.byteLength);
      if (this.#closed) throw new StatusError('ServiceUnavailable', 'this server is shutting down');
      const stream: PageStream = new PageStream({ first, state }, this.#options, () => {
        if (this.#streams.delete(stream)) this.#give(caller);
      });
      this.#streams.add(stream);
      return stream.body;
    } catch (error) {
      this.#give(caller);
      throw error;
    }
  }

  /** Ends all streams: a drain would wait for them. */
  close(): void {
    this.#closed = true;
    for (const stream of [...this.#streams]) stream.end();
  }

  /** Counts a stream before anything is waited for. */
  #take(caller: string): void {
    const ofCaller = this.#perCaller.get(caller) ?? 0;
    if (this.#closed) throw new StatusError('ServiceUnavailable', 'this server is shutting down');
    let all = 0;
    for (const count of this.#perCaller.values()) all += count;
    if (ofCaller >= PAGE_STREAMS_PER_CALLER_MAX || all >= PAGE_STREAMS_MAX) {
      this.#options.onLimit('page-streams');
      throw new StatusError('TooManyRequests', 'too many streams of the page are open', { retryAfterSeconds: 10 });
    }
    this.#perCaller.set(caller, ofCaller + 1);
  }

  #give(caller: string): void {
    const left = (this.#perCaller.get(caller) ?? 1) - 1;
    if (left > 0) this.#perCaller.set(caller, left);
    else this.#perCaller.delete(caller);
  }
}

/** One stream. Nothing is pushed while the client takes nothing, so that it holds one round of events at most. */
class PageStream {
  readonly body: BodyStream;
  readonly #options: PageStreamsOptions;
  readonly #stop: () => void;
  readonly #sent = new Map<SectionName, number>();
  #position: FlowPosition;
  #pausedAtMs: number | undefined;
  #ended = false;

  constructor(
    { first, state }: { readonly first: PageSnapshot; readonly state: Buffer },
    options: PageStreamsOptions,
    onEnd: () => void,
  ) {
    this.#options = options;
    const { clock, hub } = options;
    this.body = new BodyStream({
      pause: () => {
        this.#pausedAtMs = clock.nowMs();
      },
      resume: () => {
        this.#pausedAtMs = undefined;
      },
      cancel: () => this.#stop(),
    });
    const unsubscribe = hub.subscribe({
      onSnapshot: (snapshot) => this.#push(snapshot),
      // A stream that goes on without states would show an old verdict as the one of now.
      onFailure: () => this.end(),
    });
    const cancelLife = clock.after(STREAM_LIFE_MS_MAX, () => this.end());
    this.#stop = () => {
      if (this.#ended) return;
      this.#ended = true;
      unsubscribe();
      cancelLife();
      onEnd();
    };
    this.#position = flowPosition(first.flow);
    this.#note(first);
    for (const part of [BEFORE_STATE, state, AFTER_STATE]) this.body.push(part);
  }

  end(): void {
    if (this.#ended) return;
    this.#stop();
    this.body.end();
  }

  #push(snapshot: PageSnapshot): void {
    if (this.#ended) return;
    if (this.#pausedAtMs !== undefined) {
      if (this.#options.clock.nowMs() - this.#pausedAtMs < STREAM_STALLED_MS_MAX) return;
      this.#options.onLimit('page-stream-stalled');
      this.#stop();
      this.body.fail(new Error('the client reads nothing'));
      return;
    }
    const changed = SECTION_NAMES.filter((name) => this.#sent.get(name) !== snapshot.sections[name].number);
    const events = changed.map((name) => sectionEvent(snapshot, name));
    const flow = flowUpdate(snapshot.flow, this.#position);
    if (flow) events.push(eventBytes('flow', JSON.stringify(flow)));
    this.#position = flowPosition(snapshot.flow);
    this.#note(snapshot);
    // Scripts see no comments: an event shows that the server is there.
    if (events.length === 0) events.push(eventBytes('alive', JSON.stringify({ atMs: snapshot.about.atMs })));
    for (const event of events) this.body.push(event);
  }

  #note({ sections }: PageSnapshot): void {
    for (const name of SECTION_NAMES) this.#sent.set(name, sections[name].number);
  }
}

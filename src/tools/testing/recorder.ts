import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../kube/json.js';
import { type Duration, durationMs } from './duration.js';
import { checkMatch, type MatchedRequest, matches, type RequestMatch } from './request-match.js';

/** One request of a client, as the server got it, and the status of the reply. */
export interface RecordedRequest extends MatchedRequest {
  readonly method: string;
  readonly version: string;
  readonly groups: readonly string[];
  /** The body, parsed; undefined without one, and for one that is not JSON or has more than 64 KiB. */
  readonly body: Json | undefined;
  /** 0 if the client left before the reply. */
  readonly status: number;
  /** Milliseconds until the head of the reply. */
  readonly durationMs: number;
}

export interface WaitOptions {
  /** Number of requests to wait for. Default: 1. */
  readonly count?: number;
  /** Default: `5s`. */
  readonly timeout?: Duration;
}

/** The requests of clients since {@link ControlPlane.record}, in the order of their replies. */
export interface Recorder extends Iterable<RecordedRequest> {
  readonly requests: readonly RecordedRequest[];
  /** Number of requests that are not kept: a recorder holds the newest 10,000. */
  readonly droppedCount: number;
  matching(match: RequestMatch): RecordedRequest[];
  /** Resolves with the requests that match; rejects after the timeout, with what came instead. */
  waitFor(match: RequestMatch, options?: WaitOptions): Promise<RecordedRequest[]>;
  clear(): void;
  /** Records no more. What is there stays. */
  stop(): void;
}

const REQUESTS_MAX = 10_000;
const WAIT = '5s';
const POLL_MS = 5;
/** Requests that an error of `waitFor` names. */
const NAMED_MAX = 8;

export class RequestRecorder implements Recorder {
  readonly #match: RequestMatch;
  readonly #onStop: (recorder: RequestRecorder) => void;
  #requests: RecordedRequest[] = [];
  #droppedCount = 0;

  constructor(match: RequestMatch, onStop: (recorder: RequestRecorder) => void) {
    checkMatch('record', match, { hasReply: true });
    this.#match = match;
    this.#onStop = onStop;
  }

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  [Symbol.iterator](): Iterator<RecordedRequest> {
    return this.#requests[Symbol.iterator]();
  }

  /** Called for each request that was answered. */
  take(request: RecordedRequest): void {
    if (!matches(this.#match, request)) return;
    this.#requests.push(request);
    if (this.#requests.length <= REQUESTS_MAX) return;
    this.#requests.shift();
    this.#droppedCount++;
  }

  matching(match: RequestMatch): RecordedRequest[] {
    checkMatch('matching', match, { hasReply: true });
    return this.#requests.filter((request) => matches(match, request));
  }

  async waitFor(match: RequestMatch, { count = 1, timeout = WAIT }: WaitOptions = {}): Promise<RecordedRequest[]> {
    checkMatch('waitFor', match, { hasReply: true });
    const endMs = performance.now() + durationMs('waitFor: timeout', timeout);
    for (;;) {
      const found = this.matching(match);
      if (found.length >= count) return found;
      if (performance.now() > endMs)
        throw new Error(`waitFor: ${found.length} of ${count} requests within ${timeout}; ${this.#instead()}`);
      await delay(POLL_MS);
    }
  }

  clear(): void {
    this.#requests = [];
    this.#droppedCount = 0;
  }

  stop(): void {
    this.#onStop(this);
  }

  #instead(): string {
    if (this.#requests.length === 0) return 'no request came.';
    const last = this.#requests.slice(-NAMED_MAX).map(({ method, path, status }) => `${method} ${path} ${status}`);
    return `the last of ${this.#requests.length} that came: ${last.join(', ')}.`;
  }
}

import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import { type BodySink, type BodySource, BodyStream } from '../../http/body-stream.js';
import { Deadline } from '../../http/deadline.js';
import { deriveExchange } from '../../http/derive-exchange.js';
import { discard } from '../../http/discard.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { StatusError } from '../../kube/status-error.js';
import type { PeerDirectory } from '../peers/peer-table.js';
import type { ServedReply } from './reroute.js';
import type { Candidate } from './select-endpoint.js';
import { type EventFormat, WatchEvents } from './watch-events.js';
import { eventFormatOf } from './watch-formats.js';
import { readWatchRequest, takeUpTarget, type WatchRequest, withoutCompression } from './watch-request.js';

export interface WatchContinuationOptions {
  /** Answers a request, locally or at a peer, without continuing the watch itself. */
  readonly answer: (exchange: Exchange) => Promise<ServedReply>;
  readonly hostReady: () => boolean;
  /** Returns whether a watch may continue at another server now; false while passthrough is on. */
  readonly mayContinue: () => boolean;
  readonly directory: PeerDirectory;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly random?: () => number;
}

/** Time in which a client gets no events and no end while no server takes over its watch. */
const WITHOUT_SERVER_MS_MAX = 10_000;
/** Timeout for the head of a reply; short enough to leave time for another server. */
const HEAD_WAIT_MS_MAX = 4_000;
const BACK_OFF_FIRST_MS = 100;
const BACK_OFF_MS_MAX = 1_000;
/** Bound on continuations in the window; a watch that breaks more often is ended. */
const CONTINUATIONS_MAX = 10;
const CONTINUATIONS_WINDOW_MS = 60_000;

/** Whether a server takes over a watch. `later`: none does now. `refused`: one rejected the request as it is. */
type TakeOver =
  | { readonly kind: 'taken'; readonly reply: Reply; readonly body: BodyStream; readonly from: Candidate | undefined }
  | { readonly kind: 'later' | 'refused' };

type Outcome = 'continued' | 'finished' | 'unsafe' | 'refused' | 'unavailable' | 'too-often' | 'switched-off' | 'cut';

/**
 * Makes a watch outlive the peer that serves it: after a broken stream it continues at another
 * server from the last complete event. Where that could lose or repeat an event, the watch ends as
 * after its timeout, and the client starts a new one.
 */
export function createWatchContinuation(
  options: WatchContinuationOptions,
): (exchange: Exchange, served: ServedReply) => Reply {
  return (exchange, { reply, from }) => {
    const { body } = reply;
    if (!(body instanceof BodyStream) || exchange.method !== 'GET' || exchange.body) return reply;
    const request = readWatchRequest(exchange.target);
    const format = eventFormatOf(reply);
    if (!request || !format) return reply;
    const watch = new ContinuedWatch(options, { exchange, request, format });
    watch.follow(body, from);
    return { ...reply, body: watch.out };
  };
}

/** A watch of a client, and the format in which all servers have to send it. */
interface FollowedWatch {
  readonly exchange: Exchange;
  readonly request: WatchRequest;
  readonly format: EventFormat;
}

class ContinuedWatch implements BodySink, BodySource {
  readonly out: BodyStream;
  readonly #options: WatchContinuationOptions;
  readonly #exchange: Exchange;
  readonly #request: WatchRequest;
  readonly #format: EventFormat;
  readonly #events: WatchEvents;
  readonly #forward: (bytes: Uint8Array) => void;
  #server: Candidate | undefined;
  #source: BodyStream | undefined;
  /** A new source that waits for the client to take more. */
  #next: BodyStream | undefined;
  #paused = false;
  #over = false;
  #continuedAtMs: number[] = [];
  /** Ends the wait between two sources. */
  #stopWaiting: () => void = () => {};
  /** Unlinks the request for the rest of the watch from an abort by the client. */
  #unlink: () => void = () => {};

  constructor(options: WatchContinuationOptions, { exchange, request, format }: FollowedWatch) {
    this.#options = options;
    this.#exchange = exchange;
    this.#request = request;
    this.#format = format;
    this.#events = new WatchEvents(format, request.beginning);
    this.out = new BodyStream(this);
    this.#forward = (bytes) => this.out.push(bytes);
  }

  follow(body: BodyStream, from: Candidate | undefined): void {
    this.#server = from;
    if (this.#paused) this.#next = body;
    else this.#attach(body);
  }

  // From the client's side.

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    const next = this.#next;
    if (next) {
      this.#next = undefined;
      this.#attach(next);
    } else this.#source?.resume();
  }

  cancel(error: Error): void {
    this.#over = true;
    (this.#source ?? this.#next)?.cancel(error);
    this.#stopWaiting();
  }

  // From the server's side.

  write(chunk: Uint8Array): boolean {
    this.#events.take(chunk, this.#forward);
    return !this.#paused;
  }

  end(trailers: readonly string[]): void {
    this.#source = undefined;
    if (this.#over) return;
    const { kind } = this.#events.position();
    if (kind === 'inside' || kind === 'over' || this.#timeIsUp()) this.#endAsServer(trailers);
    else void this.#afterEnd(trailers).catch((error) => this.#broke(asError(error)));
  }

  fail(error: Error): void {
    this.#source = undefined;
    if (this.#over) return;
    if (this.#exchange.aborted) {
      // An abort by the client is no failure of the server.
      this.#over = true;
      this.out.fail(error);
      return;
    }
    // Else the server that has just failed would be tried first; a probe makes it usable again.
    this.#server?.endpoint.report('failed', error.message);
    this.#broke(error);
  }

  #attach(body: BodyStream): void {
    this.#source = body;
    body.attach(this);
  }

  /**
   * Decides after an orderly end: a server that shuts down ends its watches as after a timeout. If
   * it no longer answers, the watch continues at another server.
   */
  async #afterEnd(trailers: readonly string[]): Promise<void> {
    const { directory, hostReady } = this.#options;
    const server = this.#server;
    if (server?.endpoint.usable()) await directory.refresh(server.peer);
    if (this.#over) return;
    if (server ? server.endpoint.usable() : hostReady()) this.#endAsServer(trailers);
    else this.#broke(new Error('the server shut down'));
  }

  #endAsServer(trailers: readonly string[]): void {
    this.#over = true;
    this.#events.flush(this.#forward);
    this.out.end(trailers);
  }

  #broke(error: Error): void {
    const position = this.#events.position();
    if (position.kind === 'inside') {
      this.#count('cut');
      this.#over = true;
      this.out.fail(error);
    } else if (position.kind === 'over' || this.#timeIsUp()) this.#endHere('finished');
    else if (position.kind === 'unsafe') this.#endHere('unsafe');
    else if (!this.#isCalm()) this.#endHere('too-often');
    else {
      this.#events.dropTail();
      const resourceVersion = position.kind === 'from' ? position.resourceVersion : undefined;
      this.#goOn(resourceVersion).catch((unexpected) => {
        if (this.#over) return;
        this.#options.logger.error('a watch could not go on', { error: unexpected, target: this.#exchange.target });
        this.#endHere('refused');
      });
    }
  }

  /** Ends after the last complete event and drops the beginning of the next one. */
  #endHere(outcome: Outcome): void {
    if (this.#over) return;
    this.#count(outcome);
    this.#over = true;
    this.out.end();
  }

  async #goOn(resourceVersion: string | undefined): Promise<void> {
    const { clock, logger, mayContinue, random = Math.random } = this.#options;
    const giveUpAtMs = clock.nowMs() + WITHOUT_SERVER_MS_MAX;
    for (let backOffMs = BACK_OFF_FIRST_MS; ; backOffMs = Math.min(BACK_OFF_MS_MAX, backOffMs * 2)) {
      if (!mayContinue()) return this.#endHere('switched-off');
      const target = takeUpTarget(this.#exchange.target, { resourceVersion, timeoutSeconds: this.#secondsLeft() });
      const answer = await this.#ask(target);
      if (this.#over) {
        if (answer.kind === 'taken') discard(answer.reply);
        return;
      }
      if (answer.kind === 'refused') return this.#endHere('refused');
      if (answer.kind === 'taken') {
        this.#count('continued');
        logger.debug('a watch goes on elsewhere', { target, from: this.#server?.peer.identity ?? 'local' });
        return this.follow(answer.body, answer.from);
      }
      const delayMs = backOffMs * (0.5 + random() / 2);
      if (clock.nowMs() + delayMs > giveUpAtMs) return this.#endHere('unavailable');
      await this.#wait(delayMs);
      if (this.#over) return;
    }
  }

  async #ask(target: string): Promise<TakeOver> {
    const { answer, clock, logger } = this.#options;
    const headers = withoutCompression(this.#exchange.headers);
    const request = deriveExchange(this.#exchange, { target, headers, nowMs: clock.nowMs() });
    this.#unlink();
    this.#unlink = this.#exchange.onAbort(() => request.abort());
    const deadline = new Deadline(clock, HEAD_WAIT_MS_MAX, `watch ${target}`);
    deadline.onAbort(() => request.abort());
    this.#stopWaiting = () => request.abort();
    try {
      const answered = answer(request);
      const reply = await deadline.reply(answered.then((given) => given.reply));
      if (reply.body instanceof BodyStream && eventFormatOf(reply) === this.#format) {
        const { from } = await answered;
        return { kind: 'taken', reply, body: reply.body, from };
      }
      discard(reply);
      logger.debug('a watch was not taken over', { target, status: reply.status });
      return { kind: isPassing(reply.status) ? 'later' : 'refused' };
    } catch (error) {
      if (request.aborted) return { kind: 'later' };
      if (!(error instanceof StatusError)) throw error;
      logger.debug('a watch was not taken over', { target, error });
      return { kind: isPassing(error.status.code) ? 'later' : 'refused' };
    } finally {
      deadline.end();
      this.#stopWaiting = () => {};
    }
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(delayMs, resolve);
      this.#stopWaiting = () => {
        cancel();
        resolve();
      };
    });
  }

  #secondsLeft(): number | undefined {
    const { timeoutSeconds } = this.#request;
    if (timeoutSeconds === undefined) return undefined;
    const goneMs = this.#options.clock.nowMs() - this.#exchange.startedAtMs;
    return Math.max(1, timeoutSeconds - Math.floor(goneMs / 1000));
  }

  /** Returns whether the client's `timeoutSeconds` has passed, which is the reason for an end then. */
  #timeIsUp(): boolean {
    const { timeoutSeconds } = this.#request;
    if (timeoutSeconds === undefined) return false;
    return this.#options.clock.nowMs() - this.#exchange.startedAtMs >= timeoutSeconds * 1000;
  }

  #isCalm(): boolean {
    const nowMs = this.#options.clock.nowMs();
    this.#continuedAtMs = this.#continuedAtMs.filter((atMs) => nowMs - atMs < CONTINUATIONS_WINDOW_MS);
    if (this.#continuedAtMs.length >= CONTINUATIONS_MAX) return false;
    this.#continuedAtMs.push(nowMs);
    return true;
  }

  #count(outcome: Outcome): void {
    this.#options.metrics.watchContinuations.labels(outcome).inc();
  }
}

/** Returns whether a later attempt can succeed: too many requests, not ready, no server. */
function isPassing(status: number): boolean {
  return status === 429 || status === 503 || status === 504;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

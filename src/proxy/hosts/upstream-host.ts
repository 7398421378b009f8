import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { AttemptError, type Host } from '../../core/host.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import type { Destination } from '../../http/outgoing.js';
import type { HeaderRecipient, MakeOutgoingHeaders } from '../identity/outgoing-headers.js';
import { attempt } from '../routing/attempt.js';

export interface UpstreamHostOptions {
  readonly destination: Destination;
  readonly outgoingHeaders: MakeOutgoingHeaders;
  /** Asks the server's /readyz; resolves to true if it may be sent requests, else to why not; rejects if unreachable. */
  readonly probe: () => Promise<true | string>;
  /** Runs before the server counts as ready (again); while it fails, the server does not. */
  readonly beforeReady: () => Promise<void>;
  readonly headTimeoutMs: number;
  readonly probeIntervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RECIPIENT: HeaderRecipient = { kind: 'kube-apiserver', rerouted: false };

/**
 * A real kube-apiserver behind this process. It counts as ready from a good /readyz until an attempt or a probe shows
 * otherwise, and then not again before the next good /readyz: while it starts it listens long before it can answer. What
 * it serves is read before it counts as ready, because it may have come back as another version.
 */
export class UpstreamHost implements Host {
  readonly readsBodies = false;
  readonly #options: UpstreamHostOptions;
  #ready = false;
  /** Its first probe is over: until then nothing is known, which is no news either. */
  #judged = false;
  #probing: Promise<void> | undefined;
  #cancelTimer: () => void = () => {};
  #closed = false;

  constructor(options: UpstreamHostOptions) {
    this.#options = options;
  }

  /** Begins to watch the server's health; resolves after the first probe, whatever it found. */
  start(): Promise<void> {
    return this.#probeNow();
  }

  ready(): boolean {
    return this.#ready;
  }

  handle = (exchange: Exchange): Promise<Reply> => {
    const { destination, outgoingHeaders, headTimeoutMs } = this.#options;
    const leaving = outgoingHeaders(exchange, RECIPIENT);
    return attempt(exchange, { destination, leaving, headTimeoutMs }).catch(this.#onError);
  };

  #onError = (error: unknown): never => {
    if (error instanceof AttemptError) this.#failed(error);
    throw error;
  };

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    await this.#options.destination.close();
  }

  #failed(error: AttemptError): void {
    if (error.type === 'aborted') return;
    if (error.processed === 'unsent') this.#setReady(false, error.message);
    void this.#probeNow();
  }

  #probeNow(): Promise<void> {
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  async #probe(): Promise<void> {
    const { probe, beforeReady, probeIntervalMs, clock } = this.#options;
    this.#cancelTimer();
    if (this.#closed) return;
    try {
      const verdict = await probe();
      if (verdict === true && !this.#ready) await beforeReady();
      this.#setReady(verdict === true, String(verdict));
    } catch (error) {
      this.#setReady(false, error instanceof Error ? error.message : String(error));
      // It hangs: what waits for it would wait in vain. A server that stops, in contrast, answers what it has begun.
      if (error instanceof AttemptError && error.type === 'timeout') {
        this.#options.destination.abandonWaiting('the server does not answer');
      }
    }
    if (this.#closed) return;
    this.#cancelTimer = clock.after(probeIntervalMs, () => void this.#probeNow());
  }

  #setReady(ready: boolean, why: string): void {
    if (this.#closed || (this.#ready === ready && this.#judged)) return;
    this.#ready = ready;
    this.#judged = true;
    const { logger, destination } = this.#options;
    if (ready) logger.info('the local API server takes requests', { address: destination.address });
    else logger.warn('the local API server is down; peers take its requests', { address: destination.address, why });
  }
}

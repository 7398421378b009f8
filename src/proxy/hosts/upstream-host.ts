import type { Clock } from '../../base/clock.js';
import { ATTEMPT_ERROR_TYPES } from '../../base/error-types.js';
import type { Logger } from '../../base/logger.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import { AttemptError } from '../../http/attempt-error.js';
import type { Authenticate } from '../../http/authenticate.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import type { Destination } from '../../http/outgoing.js';
import { errorCode } from '../../http/socket-error.js';
import type { HeaderRecipient, MakeOutgoingHeaders } from '../identity/outgoing-headers.js';
import type { SurfaceFetch } from '../peers/surface-reader.js';
import { attempt } from '../routing/attempt.js';
import type { Host } from './host.js';

export interface UpstreamHostOptions {
  readonly destination: Destination;
  /** Makes the destination use the present certificates. */
  readonly renew: () => void;
  /** GETs from the destination, as Straddle itself. */
  readonly fetch: SurfaceFetch;
  /** host:port as other machines reach the server. */
  readonly advertisedAddress: string;
  /** The same server at the advertised address, where that is another one. */
  readonly asOthersReachIt?: OtherWay | undefined;
  readonly outgoingHeaders: MakeOutgoingHeaders;
  /** Asks the server's /readyz; resolves to true if it may be sent requests, else to why not; rejects if unreachable. */
  readonly probe: () => Promise<true | string>;
  /** Reads the surface before the server counts as ready (again); while this fails, the server does not. */
  readonly beforeReady: () => Promise<void>;
  /** Returns whether the server counts as ready also while `beforeReady` fails: nobody routes by its surface then. */
  readonly mayServeUnread: () => boolean;
  readonly headTimeoutMs: number;
  /** Returns whether another server could take an exchange now. */
  readonly hasAlternative: (exchange: Exchange) => boolean;
  readonly probeIntervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface OtherWay {
  /** As the probe of the server itself. */
  readonly probe: UpstreamHostOptions['probe'];
  close(): Promise<void>;
}

const RECIPIENT: HeaderRecipient = { kind: 'kube-apiserver', rerouted: false };

/**
 * A kube-apiserver behind this process. It counts as ready from a good /readyz until an attempt or a probe fails, and then
 * again only from the next good /readyz: during its start it listens long before it can answer. Its surface is read before
 * it counts as ready, because it may have come back as another version. A read that fails is owed: it is repeated with each
 * good probe, and until it succeeds the server is ready only while `mayServeUnread` says so.
 */
export class UpstreamHost implements Host {
  readonly readsBodies = false;
  readonly fetch: SurfaceFetch;
  readonly advertisedAddress: string;
  readonly furtherAddresses: readonly string[];
  readonly #options: UpstreamHostOptions;
  #ready = false;
  /** The surface was read since the server became ready. */
  #isRead = false;
  /** The first probe has ended; before that, a server that is not ready is not logged as down. */
  #judged = false;
  /** The last finding of `isBehindProcess`. */
  #isBehind = false;
  /** The last probe timed out. */
  #hangs = false;
  readonly #probes: RepeatedTask;
  #closed = false;

  constructor(options: UpstreamHostOptions) {
    this.#options = options;
    const { clock, probeIntervalMs } = options;
    this.#probes = new RepeatedTask({ clock, run: () => this.#probe(), pauseMs: () => probeIntervalMs });
    this.fetch = options.fetch;
    this.advertisedAddress = options.advertisedAddress;
    this.furtherAddresses = [options.advertisedAddress, options.destination.address];
  }

  /** Begins to watch the server's health; resolves after the first probe, whatever it found. */
  start(): Promise<void> {
    return this.#probes.now();
  }

  inFlight = (): number => this.#options.destination.inFlight;

  ready(): boolean {
    return this.#ready && (this.#isRead || this.#options.mayServeUnread());
  }

  /** Only a connection that is refused while the server itself is ready shows that nobody listens there. */
  isBehindProcess = async (): Promise<boolean> => {
    const { asOthersReachIt, probe } = this.#options;
    if (!asOthersReachIt || !this.#ready) return this.#isBehind;
    try {
      await asOthersReachIt.probe();
      this.#isBehind = false;
    } catch (error) {
      const isRefused = error instanceof AttemptError && errorCode(error.cause as Error) === 'ECONNREFUSED';
      // The server may have ended since it was ready.
      if (isRefused && (await probe().catch(() => false)) === true) this.#isBehind = true;
    }
    return this.#isBehind;
  };

  handle = (exchange: Exchange): Promise<Reply> => {
    const { destination, outgoingHeaders, headTimeoutMs, hasAlternative, clock } = this.#options;
    const leaving = outgoingHeaders(exchange, RECIPIENT);
    return attempt(exchange, { destination, leaving, headTimeoutMs, hasAlternative, clock }).catch(this.#onError);
  };

  #onError = (error: unknown): never => {
    if (error instanceof AttemptError) this.#failed(error);
    throw error;
  };

  /** Returns `fromConnection`: credentials in requests are verified by the kube-apiserver. */
  authenticate(fromConnection: Authenticate): Authenticate {
    return fromConnection;
  }

  renew(): void {
    this.#options.renew();
  }

  async close(): Promise<void> {
    this.#closed = true;
    void this.#probes.close();
    await Promise.all([this.#options.destination.close(), this.#options.asOthersReachIt?.close()]);
  }

  #failed(error: AttemptError): void {
    if (error.type === 'aborted') return;
    if (error.processed === 'unsent') this.#setReady(false, error.message, ATTEMPT_ERROR_TYPES[error.type].advice);
    void this.#probes.now();
  }

  async #probe(): Promise<void> {
    if (this.#hangs) this.#endWaiting();
    try {
      const verdict = await this.#options.probe();
      this.#hangs = false;
      if (verdict === true && !this.#isRead) await this.#readSurface();
      this.#setReady(verdict === true, String(verdict), 'look at the log of the API server: its /readyz is not ok');
    } catch (error) {
      const advice = error instanceof AttemptError ? ATTEMPT_ERROR_TYPES[error.type].advice : undefined;
      this.#setReady(false, error instanceof Error ? error.message : String(error), advice);
      // A server that stops still answers the requests it has.
      this.#hangs = error instanceof AttemptError && error.type === 'timeout';
      if (this.#hangs) this.#endWaiting();
    }
  }

  /** Ends waiting requests that another server could take: at a probe that timed out, and before the next one. */
  #endWaiting(): void {
    this.#options.destination.abandonWaiting('timeout: no reply to a probe');
  }

  /** Rejects if the surface cannot be read and somebody routes by it. */
  async #readSurface(): Promise<void> {
    const { beforeReady, mayServeUnread } = this.#options;
    try {
      await beforeReady();
      this.#isRead = true;
    } catch (error) {
      if (!mayServeUnread()) throw error;
    }
  }

  #setReady(ready: boolean, why: string, advice: string | undefined): void {
    if (!ready) this.#isRead = false;
    if (this.#closed || (this.#ready === ready && this.#judged)) return;
    this.#ready = ready;
    this.#judged = true;
    const { logger, destination } = this.#options;
    const { address } = destination;
    if (ready) logger.info('the local API server takes requests', { address });
    else logger.warn('the local API server is down', { address, why, advice });
  }
}

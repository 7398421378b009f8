import type { Clock } from '../../base/clock.js';
import { DOCUMENT_FAULTS, type DocumentFault } from '../../base/error-types.js';
import type { Logger } from '../../base/logger.js';
import { BodyTooLargeError, readBody } from '../../http/body-stream.js';
import { Deadline } from '../../http/deadline.js';
import { discard, drain } from '../../http/discard.js';
import type { Reply } from '../../http/exchange.js';
import { headerValue, type RawHeaders } from '../../http/headers.js';
import type { OnAbort } from '../../http/on-abort.js';

/**
 * Sends a GET to one server of the control plane in Straddle's name, to the host if `server` is
 * this one. The reply is the server's local view, also through its Straddle. Rejects if the server
 * is unknown.
 */
export type SendTo = (server: string, target: string, headers: RawHeaders, onAbort: OnAbort) => Promise<Reply>;

export interface FetchLimits {
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  /**
   * Pause after a failure, so that a server that hangs costs one timeout: for all documents of a
   * server that did not reply, for one document after a wrong reply.
   */
  readonly restMs: number;
  readonly restingMax: number;
}

export const FETCH_LIMITS: FetchLimits = {
  timeoutMs: 4_000,
  bodyBytesMax: 32 * 1024 * 1024,
  restMs: 5_000,
  restingMax: 1_024,
};

/** Bound on an error page that is drained to keep the connection. */
const ERROR_PAGE_BYTES_MAX = 64 * 1024;

export interface FetchedDocument {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** A document that could not be read or used. */
export class DocumentError extends Error {
  readonly fault: DocumentFault;

  constructor(fault: DocumentFault, message: string) {
    super(message);
    this.name = 'DocumentError';
    this.fault = fault;
  }
}

export interface DocumentFetcherOptions {
  readonly send: SendTo;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onFault: (server: string, fault: DocumentFault) => void;
  readonly limits?: FetchLimits;
}

export interface DocumentRequest {
  readonly server: string;
  readonly target: string;
  readonly headers: RawHeaders;
  /** Media types that the reply may have; parameters are ignored. */
  readonly mediaTypes: readonly string[];
  /** Replaces the default, for a document that is slow to make. */
  readonly timeoutMs?: number;
}

/** Reads whole documents from servers, with bounds on size and time. */
export class DocumentFetcher {
  readonly #options: DocumentFetcherOptions;
  readonly #limits: FetchLimits;
  /** End of the pause, by server, or by server and target. */
  readonly #restingUntilMs = new Map<string, number>();

  constructor(options: DocumentFetcherOptions) {
    this.#options = options;
    this.#limits = options.limits ?? FETCH_LIMITS;
  }

  /** Rejects with DocumentError, logged and counted. 304, 404 and 406 are replies. */
  async fetch(request: DocumentRequest): Promise<FetchedDocument> {
    if (this.#rests(request.server) || this.#rests(`${request.server} ${request.target}`)) {
      throw new DocumentError('resting', `${request.server} failed to answer ${request.target} a moment ago`);
    }
    try {
      return await this.#fetchNow(request);
    } catch (error) {
      throw this.#noteFault(request, error);
    }
  }

  #rests(key: string): boolean {
    const untilMs = this.#restingUntilMs.get(key);
    if (untilMs === undefined) return false;
    if (this.#options.clock.nowMs() < untilMs) return true;
    this.#restingUntilMs.delete(key);
    return false;
  }

  /** Reports content that failed to parse. */
  reportMalformed(request: Pick<DocumentRequest, 'server' | 'target'>, why: string): DocumentError {
    return this.#noteFault(request, new DocumentError('malformed', why));
  }

  async #fetchNow(request: DocumentRequest): Promise<FetchedDocument> {
    const { clock, send } = this.#options;
    const timeoutMs = request.timeoutMs ?? this.#limits.timeoutMs;
    const deadline = new Deadline(
      clock,
      timeoutMs,
      () => new DocumentError('timeout', `timeout: no complete reply in ${timeoutMs} ms`),
    );
    try {
      const sent = send(request.server, request.target, request.headers, deadline.onAbort);
      const reply = await deadline.reply(sent);
      return await deadline.race(this.#readWhole(request, reply));
    } finally {
      deadline.end();
    }
  }

  async #readWhole(request: DocumentRequest, reply: Reply): Promise<FetchedDocument> {
    if (reply.status === 304 || reply.status === 404 || reply.status === 406) {
      await drain(reply, ERROR_PAGE_BYTES_MAX);
      return { status: reply.status, headers: reply.headers, body: Buffer.alloc(0) };
    }
    if (reply.status !== 200) {
      await drain(reply, ERROR_PAGE_BYTES_MAX);
      throw new DocumentError('status', `answered ${reply.status}`);
    }
    const mediaType = (headerValue(reply.headers, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
    if (!request.mediaTypes.includes(mediaType)) {
      discard(reply);
      throw new DocumentError('content-type', `answered ${mediaType || 'no content type'}`);
    }
    const announced = Number(headerValue(reply.headers, 'content-length') ?? 0);
    if (announced > this.#limits.bodyBytesMax) {
      discard(reply);
      throw new DocumentError('too-large', `${announced} bytes, more than ${this.#limits.bodyBytesMax}`);
    }
    const body = await readBody(reply.body, this.#limits.bodyBytesMax).catch((error: Error) => {
      throw new DocumentError(error instanceof BodyTooLargeError ? 'too-large' : 'truncated', error.message);
    });
    if (body.length > this.#limits.bodyBytesMax) {
      throw new DocumentError('too-large', `${body.length} bytes, more than ${this.#limits.bodyBytesMax}`);
    }
    if (announced > 0 && body.length !== announced) {
      throw new DocumentError('truncated', `${body.length} bytes of ${announced}`);
    }
    return { status: 200, headers: reply.headers, body };
  }

  #noteFault(request: Pick<DocumentRequest, 'server' | 'target'>, error: unknown): DocumentError {
    const message = error instanceof Error ? error.message : String(error);
    const fault = error instanceof DocumentError ? error : new DocumentError('connection', message);
    const unanswered = fault.fault === 'connection' || fault.fault === 'timeout';
    const { clock, logger, onFault } = this.#options;
    if (this.#restingUntilMs.size >= this.#limits.restingMax) {
      this.#restingUntilMs.delete(this.#restingUntilMs.keys().next().value!);
    }
    const restKey = unanswered ? request.server : `${request.server} ${request.target}`;
    this.#restingUntilMs.set(restKey, clock.nowMs() + this.#limits.restMs);
    logger.warn("a server's document was left out", {
      server: request.server,
      target: request.target,
      fault: fault.fault,
      why: fault.message,
      advice: DOCUMENT_FAULTS[fault.fault].advice,
    });
    onFault(request.server, fault.fault);
    return fault;
  }
}

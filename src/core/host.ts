import type { Handler } from '../http/exchange.js';

/** What stands behind the chain in this process: a kube-apiserver (upstream) or an API server of our own (embedded). */
export interface Host {
  readonly handle: Handler;
  /** True where the host reads request bodies itself, after authorization; they are then not gathered before. */
  readonly readsBodies: boolean;
  /** Cheap and synchronous: may a request be sent there now? */
  ready(): boolean;
  close(): Promise<void>;
}

/**
 * Thrown by a host or a peer connection that could not answer. Whether the request may have been carried out decides
 * what may happen next: `unsent` moves on with any method, `maybe` only with a safe one.
 */
export class AttemptError extends Error {
  readonly processed: 'unsent' | 'maybe';
  /** Short and stable, for metrics: connect, tls, timeout, reset, refused-stream, … */
  readonly type: string;

  constructor(processed: 'unsent' | 'maybe', type: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AttemptError';
    this.processed = processed;
    this.type = type;
  }
}

import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { LargeHeads } from './large-heads.js';
import type { HeadLimits, ListenerLimit, ListenerLimits } from './listener-limits.js';
import type { OpenExchanges } from './open-exchanges.js';
import type { AnswerContext } from './reply-writer.js';

/** HTTP/2 implementation for connections that the listener has accepted. */
export interface Http2Server {
  /** `head` bounds the request heads of this connection; those above the usual size are counted by `largeHeads`. */
  accept(socket: TLSSocket, head: HeadLimits, largeHeads?: LargeHeads): void;
  /** Sends GOAWAY on every connection; each closes after its last reply. */
  drain(): void;
  /** Closes connections whose clients do not read. */
  endStalled(nowMs: number): void;
}

export interface Http2Parts {
  readonly limits: ListenerLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly open: OpenExchanges;
  /** `owner` is an object that lives as long as the connection (see clientConnection). */
  context(socket: TLSSocket, owner: object): AnswerContext;
  onLimit(limit: ListenerLimit): void;
}

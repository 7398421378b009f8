import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { ListenerLimits } from './listener-limits.js';
import type { OpenExchanges } from './open-exchanges.js';
import type { AnswerContext } from './reply-writer.js';

/** What speaks HTTP/2 on the connections that the listener has accepted. */
export interface Http2Server {
  accept(socket: TLSSocket): void;
  /** Every connection is told to go, and closes when its requests are answered. */
  drain(): void;
  /** Ends connections whose clients have not read what was written to them. */
  endStalled(nowMs: number): void;
}

export interface Http2Parts {
  readonly limits: ListenerLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly open: OpenExchanges;
  /** `owner` is what lives as long as the connection. */
  context(socket: TLSSocket, owner: object): AnswerContext;
}

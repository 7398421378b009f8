import type { Duration } from './duration.js';
import type { RequestMatch } from './request-match.js';

export interface FaultOptions {
  /** Number of requests that the fault meets, after which it has ended. */
  readonly times?: number;
}

export interface FailOptions extends FaultOptions {
  /** Code of the reply: 403, 404, 409, 429, 500, 503, 504 … */
  readonly status: number;
}

export interface DelayOptions extends FaultOptions {
  readonly by: Duration;
}

/** A fault that was set. */
export interface Fault {
  /** Number of requests that it has met. */
  readonly hits: number;
  /** Ends it before its time. May be called twice. */
  end(): void;
}

/**
 * Faults of the API, as clients meet them. They concern requests of clients only, at whichever server these arrive; servers
 * reach each other without them ({@link ControlPlane.partition} is for that). Several add up.
 */
export interface Faults {
  /**
   * The version that a client has seen is gone: watches that match are cut, and the next one that begins at a resource
   * version gets 410 `Expired`; so does the next page of a list. Default: once.
   */
  expire(match?: RequestMatch, options?: FaultOptions): Fault;
  /** Updates and patches are refused with 409 `Conflict`, and change nothing. Default: once. */
  conflict(match?: RequestMatch, options?: FaultOptions): Fault;
  /** Requests are refused with this status, and change nothing. Default: until it is ended. */
  fail(match: RequestMatch, options: FailOptions): Fault;
  /** Requests wait before a server gets them. Default: until it is ended. */
  delay(match: RequestMatch, options: DelayOptions): Fault;
  /**
   * The documents of discovery lack an API group, as while an aggregated API server is away. Its objects are served. Default:
   * until it is ended.
   */
  hideFromDiscovery(group: string, options?: FaultOptions): Fault;
  /** Breaks off the open watches that match, in the middle. Returns their number. */
  cutWatches(match?: RequestMatch): number;
  /** Kills a server. Resolves with a function that starts it again. */
  down(server: string): Promise<() => Promise<void>>;
  /** Ends all faults that were set. Does not start servers. */
  clear(): void;
}

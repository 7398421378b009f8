import type { Clock } from '../base/clock.js';
import type { LimitName } from '../base/error-types.js';
import type { Metrics } from '../base/metric-catalogue.js';
import { FairLimiter, type FairLimiterOptions } from '../http/fair-limiter.js';
import type { SharedLimits } from '../http/holding.js';
import type { LimitsConfig } from './config/server-config.js';

/** Bound on requests of other Straddles, each of which reads discovery every few seconds. */
const PEER_REQUESTS_IN_FLIGHT_MAX = 100;
/** Fractions of the long-running requests and of the memory that one user may hold. */
const LONG_RUNNING_PER_USER_FRACTION = 1 / 4;
const HELD_MEMORY_PER_USER_FRACTION = 1 / 8;

/** Part of `--max-held-memory` that the heads above the usual size of all connections may have besides. */
const LARGE_HEADS_FRACTION = 1 / 2;
/** Number of heads of the largest size that have room in any case. */
const LARGEST_HEADS_MIN = 8;

/** Returns the bound on the heads above the usual size. */
export function largeHeadBytesMax({ heldMemoryBytesMax, authenticatedHead }: LimitsConfig): number {
  return Math.max(heldMemoryBytesMax * LARGE_HEADS_FRACTION, LARGEST_HEADS_MIN * authenticatedHead.headerBytesMax);
}

/** Makes the limits that all client requests share; see docs/reference/limits.md. */
export function createSharedLimits(limits: LimitsConfig, clock: Clock, metrics: Metrics): SharedLimits {
  const queue = { queueMax: limits.queuedRequestsMax, waitMsMax: limits.queueWaitMs, clock };
  const limiter = (name: LimitName, options: Pick<FairLimiterOptions, 'heldMax' | 'heldPerGroupMax'>) =>
    new FairLimiter({ ...queue, ...options, onRefused: () => metrics.limitHits.labels(name).inc() });
  const shared: SharedLimits = {
    places: limiter('max-requests-in-flight', {
      heldMax: limits.requestsInFlightMax,
      heldPerGroupMax: limits.requestsInFlightPerUserMax,
    }),
    peerPlaces: limiter('peer-requests-in-flight', { heldMax: PEER_REQUESTS_IN_FLIGHT_MAX }),
    longRunning: limiter('max-long-running-requests', {
      heldMax: limits.longRunningRequestsMax,
      heldPerGroupMax: Math.ceil(limits.longRunningRequestsMax * LONG_RUNNING_PER_USER_FRACTION),
    }),
    memory: limiter('max-held-memory', {
      heldMax: limits.heldMemoryBytesMax,
      heldPerGroupMax: Math.ceil(limits.heldMemoryBytesMax * HELD_MEMORY_PER_USER_FRACTION),
    }),
  };
  metrics.registry.collect(() => {
    metrics.inFlight.labels().set(shared.places.stats.held + shared.peerPlaces.stats.held);
    metrics.queued.labels().set(shared.places.stats.queued + shared.peerPlaces.stats.queued);
    metrics.longRunning.labels().set(shared.longRunning.stats.held);
    metrics.heldMemoryBytes.labels().set(shared.memory.stats.held);
  });
  return shared;
}

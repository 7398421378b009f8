import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import type { ApiClient } from '../../kube/client/api-client.js';
import type { CatalogueReader } from './resource-catalogue.js';

/** Options of every controller, for one term of leadership. */
export interface ControllerOptions {
  /** Rejects changes once the lease is lost. */
  readonly client: ApiClient;
  readonly reader: CatalogueReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Runs from its construction until closed. */
export interface Controller {
  close(): Promise<void>;
}

import type { Clock } from '../core/clock.js';
import type { Metrics } from '../observe/catalogue.js';
import type { Logger } from '../observe/logger.js';
import type { ApiClient } from './api-client.js';
import type { CatalogueReader } from './catalogue.js';

/** What every controller is given for one term of leadership. */
export interface ControllerOptions {
  /** Refuses to change anything once the lease is gone. */
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

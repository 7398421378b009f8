import type { FlowRecorder } from './flow-recorder.js';
import type { PageAssets } from './page-assets.js';
import type { PageHub } from './page-hub.js';
import type { PageStreams } from './page-streams.js';
import type { ReachDocument } from './reach-document.js';

/** The page of a process: what it records of the traffic, and the states that it shows. */
export interface Page {
  readonly recorder: FlowRecorder;
  readonly hub: PageHub;
  readonly streams: PageStreams;
  readonly assets: PageAssets;
  /** What this server says of itself to the Straddles of its peers. Rejects if the process that knows it does not answer. */
  readonly reach: () => Promise<ReachDocument>;
  /** Begins to record what becomes of the servers. */
  start(): void;
  /** Ends what clients have open: a drain would wait for them. */
  drain(): void;
  close(): void;
}

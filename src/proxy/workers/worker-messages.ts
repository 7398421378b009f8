import type { MetricExport } from '../../base/metrics.js';
import type { FlowExport } from '../page/flow-recorder.js';
import type { KnownSections } from '../page/page-snapshot.js';
import type { PassthroughState, WantedPassthrough } from '../passthrough/passthrough.js';
import type { EndpointName } from '../peers/endpoint-pool.js';

/** A surface, serialised once by the head for all workers. */
export interface SentSurface {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** The head's view at one moment. Surfaces that the worker has are referred to by number. */
export interface ViewUpdate {
  readonly surfaces: readonly SentSurface[];
  readonly local: number | undefined;
  readonly synced: boolean;
  readonly peers: readonly SentPeer[];
  readonly departed: readonly { readonly identity: string; readonly departedAtMs: number; readonly surface: number }[];
}

export interface SentPeer {
  readonly identity: string;
  readonly surface: number | undefined;
  readonly unread: boolean;
  readonly endpoints: readonly SentEndpoint[];
}

export interface SentEndpoint extends EndpointName {
  readonly usable: boolean;
  /** Number of the last failure reported by this worker that `usable` takes into account. */
  readonly failureHeard: number;
}

/** Request of a worker to the head. */
export type Question =
  | { readonly what: 'metrics' }
  /** Reads discovery of the local server: a reply contradicted the surface. */
  | { readonly what: 'refresh-local' }
  /** The same, /version included: the server was restarted. Fails if it cannot be read. */
  | { readonly what: 'read-local-anew' }
  | { readonly what: 'refresh-peer'; readonly identity: string }
  /** The state of the page, without the sections that the worker has; the answer is PageUpdate. */
  | { readonly what: 'page'; readonly known: KnownSections }
  /** Whom this server reaches; the answer is ReachDocument. */
  | { readonly what: 'reach' }
  /** Switches passthrough for all processes; the answer is PassthroughSwitched. */
  | { readonly what: 'passthrough'; readonly wanted: WantedPassthrough };

export type ToWorker =
  | {
      readonly type: 'start';
      /** Configuration as read by the head: a worker that starts later must not read another one. */
      readonly config: unknown;
      readonly worker: number;
      readonly view: ViewUpdate;
      /** The local server takes requests, and `view` has its surface read since then. False while passthrough is on. */
      readonly localReady: boolean;
      readonly passthrough: PassthroughState;
    }
  | { readonly type: 'view'; readonly view: ViewUpdate }
  | { readonly type: 'passthrough'; readonly state: PassthroughState }
  | { readonly type: 'hang'; readonly endpoint: EndpointName; readonly why: string }
  /** Sent together with a socket. */
  | { readonly type: 'connection' }
  | { readonly type: 'export'; readonly id: number }
  /** Asks for what the recorder of the worker's traffic holds. */
  | { readonly type: 'export-flow'; readonly id: number; readonly withUses: boolean }
  | { readonly type: 'stop' }
  | { readonly type: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string };

export type ToHead =
  | { readonly type: 'serving' }
  /** The worker cannot start; `why` is the reason. */
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'connections-closed'; readonly count: number }
  /** The worker takes no more connections. */
  | { readonly type: 'draining' }
  | {
      readonly type: 'endpoint-failed';
      readonly endpoint: EndpointName;
      readonly why: string;
      readonly failure: number;
    }
  | { readonly type: 'question'; readonly id: number; readonly question: Question }
  | { readonly type: 'exported'; readonly id: number; readonly metrics: MetricExport }
  | { readonly type: 'exported-flow'; readonly id: number; readonly flow: FlowExport };

import type { MetricExport } from '../../base/metrics.js';
import type { PeerEndpoint } from '../peers/peer-table.js';

/** An address as both processes name it. */
export interface EndpointName {
  readonly kind: PeerEndpoint['kind'];
  readonly address: string;
}

export function endpointKey({ kind, address }: EndpointName): string {
  return `${kind} ${address}`;
}

/** What a server serves, written once by the head for all workers. */
export interface SentSurface {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** All that the head knows at one moment. Surfaces that this worker has got already are named by their number only. */
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
  /** Number of the last failure told by this worker that `usable` takes into account. */
  readonly failureHeard: number;
}

/** What a worker asks of the head. */
export type Question =
  | { readonly what: 'metrics' }
  /** Read the local server's discovery: an answer did not fit. */
  | { readonly what: 'refresh-local' }
  /** The same, and it may be another server than before. Fails if it cannot be read. */
  | { readonly what: 'read-local-anew' }
  | { readonly what: 'refresh-peer'; readonly identity: string };

export type ToWorker =
  | {
      readonly type: 'start';
      /** What the program was told, as the head has read it: a worker that is started later must not read another. */
      readonly config: unknown;
      readonly worker: number;
      readonly view: ViewUpdate;
      /** The local server takes requests, and `view` has what it serves since it does. */
      readonly localReady: boolean;
    }
  | { readonly type: 'view'; readonly view: ViewUpdate }
  | { readonly type: 'hang'; readonly endpoint: EndpointName; readonly why: string }
  /** Comes with a socket. */
  | { readonly type: 'connection' }
  | { readonly type: 'export'; readonly id: number }
  | { readonly type: 'stop' }
  | { readonly type: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string };

export type ToHead =
  | { readonly type: 'serving' }
  /** It cannot start, and says why. */
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'connections-closed'; readonly count: number }
  /** It takes no more connections. */
  | { readonly type: 'draining' }
  | {
      readonly type: 'endpoint-failed';
      readonly endpoint: EndpointName;
      readonly why: string;
      readonly failure: number;
    }
  | { readonly type: 'question'; readonly id: number; readonly question: Question }
  | { readonly type: 'exported'; readonly id: number; readonly metrics: MetricExport };

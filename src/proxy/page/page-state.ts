/**
 * The JSON API of the page: GET /straddle/api/v1/state returns a PageState; GET /straddle/api/v1/stream sends one as event
 * `state`, then each section that changed as an event named for it (`verdict`, `servers`, `skew`, …) with the whole section as
 * data, but `flow`, whose data is a FlowUpdate. Times are Unix milliseconds. Lists have bounds; `left` says what did not fit.
 */
export interface PageState {
  readonly kind: 'StraddleState';
  readonly formatVersion: 1;
  /** The server behind the Straddle that answers. */
  readonly server: string;
  readonly product: 'sidecar' | 'apiserver';
  readonly straddleVersion: string;
  readonly atMs: number;
  readonly verdict: Verdict;
  readonly servers: readonly ServerState[];
  readonly reach: readonly Reach[];
  readonly skew: Skew;
  readonly flow: Flow;
  readonly timeline: Timeline;
  readonly clients: Clients;
  readonly checks: readonly CheckState[];
}

/** Whether the next server may be replaced, as this Straddle knows it; `straddle gate` asks every server. */
export interface Verdict {
  readonly may: 'yes' | 'no' | 'unknown';
  /** One sentence: "2 of 3 servers on 1.37, all protected, 0 wrong 404s passed on; not now: only cp-3 serves …". */
  readonly sentence: string;
  readonly reasons: readonly Reason[];
}

export interface Reason {
  /** An id of `straddle gate` where it has one. */
  readonly id: string;
  readonly text: string;
  /** The next step; a command to copy if `isCommand`. */
  readonly remedy: string | null;
  readonly isCommand: boolean;
}

export interface ServerState {
  readonly name: string;
  /** The server behind the Straddle that answers. */
  readonly isThis: boolean;
  /** `v1.37.1`; null if it was never read. */
  readonly version: string | null;
  readonly emulatedVersion: string | null;
  /** `gone`: remembered, within its grace period. `unread`: found, but its APIs could not be read yet. */
  readonly state: 'ready' | 'down' | 'unread' | 'gone';
  /** In words: the last error, since when. */
  readonly detail: string;
  readonly endpoints: readonly { readonly kind: string; readonly address: string; readonly usable: boolean }[];
  readonly leaseRenewedAtMs: number | null;
  /** When its APIs were last confirmed. */
  readonly surfaceAtMs: number | null;
  /** Requests of this Straddle that it works on. */
  readonly inFlight: number;
  readonly certificateExpiresAtMs: number | null;
  readonly passthrough: boolean | null;
}

/** Whether one server reaches another, as the first one reports; null if it does not report it. */
export interface Reach {
  readonly from: string;
  readonly to: string;
  readonly reaches: boolean | null;
}

/** Resources and subresources that not every server serves alike. */
export interface Skew {
  /** Names in the order of the cells. */
  readonly servers: readonly string[];
  readonly rows: readonly SkewRow[];
  /** Resources and subresources that every server serves. */
  readonly alike: number;
  readonly left: number;
}

/**
 * Requests for the resource that arrive at a server are: `served` there, `rerouted` by its Straddle, `held` with 503 because
 * no live server has it, `stale` (it served it when last seen and does not answer now), or `absent` where nothing is known of a
 * protection.
 */
export type SkewCell = 'served' | 'rerouted' | 'held' | 'stale' | 'absent';

export interface SkewRow {
  /** `pods.v1`, `pods.v1/resize`, `jobs.v1.batch`. */
  readonly name: string;
  readonly cells: readonly SkewCell[];
  /** When a request for it last arrived here; null: not since the start. */
  readonly usedAtMs: number | null;
}

export interface Flow {
  /** Newest first. */
  readonly recent: readonly FlowRow[];
  readonly seconds: readonly FlowSecond[];
  readonly totals: FlowCounts;
  /** Requests that were not recorded one by one because there were too many in a second. */
  readonly left: number;
}

/** Of the stream: what came since the last event. */
export interface FlowUpdate {
  readonly rows: readonly FlowRow[];
  readonly seconds: readonly FlowSecond[];
  readonly totals: FlowCounts;
  readonly left: number;
}

/** One request. No names of objects, no bodies, no query. */
export interface FlowRow {
  readonly id: number;
  readonly atMs: number;
  readonly arrivedAt: string;
  /** Null: answered by Straddle itself. */
  readonly answeredBy: string | null;
  readonly verb: string;
  /** `jobs.v1.batch/status`; the path's first two segments for what is no resource. */
  readonly resource: string;
  readonly userAgent: string;
  readonly status: number;
  /** Rule of the route: "only peers serve it". Empty where Straddle answered. */
  readonly why: string;
  readonly ms: number;
  readonly kind: 'local' | 'rerouted' | 'held' | 'own';
}

export interface FlowCounts {
  readonly requests: number;
  readonly rerouted: number;
  readonly prevented404: number;
  readonly held503: number;
  readonly failovers: number;
}

export interface FlowSecond extends FlowCounts {
  readonly atMs: number;
}

export interface Timeline {
  readonly startedAtMs: number;
  readonly lanes: readonly { readonly server: string; readonly spans: readonly TimelineSpan[] }[];
  readonly events: readonly TimelineEvent[];
  readonly longestGap: { readonly server: string; readonly ms: number } | null;
}

export interface TimelineSpan {
  readonly fromMs: number;
  /** Null: until now. */
  readonly toMs: number | null;
  readonly state: ServerState['state'];
  readonly version: string | null;
}

export interface TimelineEvent {
  readonly atMs: number;
  readonly server: string | null;
  readonly kind: 'left' | 'came' | 'version' | 'api-appeared' | 'api-gone' | 'prevented-404' | 'passthrough';
  readonly text: string;
}

export interface Clients {
  readonly rows: readonly ClientRow[];
  /** Requests of clients that are not in the list. */
  readonly left: number;
}

export interface ClientRow {
  /** `kubectl`, `kube-controller-manager`. */
  readonly name: string;
  readonly version: string;
  readonly requests: number;
  /** Requests that would have got a wrong 404, or no answer, without Straddle. */
  readonly wouldHaveFailed: number;
  readonly lastAtMs: number;
}

export interface CheckState {
  readonly id: string;
  readonly server: string | null;
  readonly verdict: 'ok' | 'warn' | 'fail' | 'unknown';
  readonly text: string;
  readonly remedy: string | null;
  readonly isCommand: boolean;
}

import type { Clock } from '../../base/clock.js';
import { detachedText } from '../../base/detached-text.js';
import { printableLine } from '../../base/printable.js';
import { bearerCredential } from '../../http/bearer.js';
import type { Exchange } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import type { RequestInfo } from '../../kube/request-info.js';
import { STRADDLE_USER } from '../identity/straddle-requests.js';
import { ClientCounts } from './client-counts.js';
import { shownUserAgent } from './client-name.js';
import { FlowSeconds } from './flow-seconds.js';
import type { ClientRow, FlowCounts, FlowRow, FlowSecond } from './page-state.js';
import { requestLabel, verbLabel } from './request-label.js';
import { ResourceUses } from './resource-uses.js';

/** Requests that are kept one by one, the newest ones. */
export const FLOW_ROWS_MAX = 200;
/** Requests of one second that are kept one by one; others are only counted. */
export const FLOW_ROWS_PER_SECOND_MAX = 40;
/** Runs of prevented 404s that are kept, for the timeline. */
export const PREVENTED_RUNS_MAX = 64;
/** Prevented 404s with a shorter pause between them are one run. */
const PREVENTED_PAUSE_MS = 60_000;
const WHY_CHARS_MAX = 200;
/** Whom API servers take callers without credentials for. */
const ANONYMOUS_USER = 'system:anonymous';

export interface FlowRecorderOptions {
  readonly serverName: string;
  readonly clock: Clock;
  /** Whether a departed server served it: beyond what live servers serve, such names are no inventions of clients. */
  readonly isRemembered: (info: RequestInfo) => boolean;
  /** Requests that each server works on for this process. */
  readonly inFlight: () => ReadonlyMap<string, number>;
}

/** Prevented 404s without a long pause between them. */
export interface PreventedRun {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** What a recorder holds, in a form that can be sent to another process. */
export interface FlowExport {
  /** Oldest first; ids grow. */
  readonly rows: readonly FlowRow[];
  /** Complete seconds, oldest first. */
  readonly seconds: readonly FlowSecond[];
  readonly totals: FlowCounts;
  readonly left: number;
  readonly clients: readonly ClientRow[];
  readonly clientsLeft: number;
  readonly prevented: readonly PreventedRun[];
  /** Requests that each server works on. */
  readonly inFlight: ReadonlyMap<string, number>;
  /** Name and time of the last use of resources; undefined if it was not asked for. */
  readonly used: ReadonlyMap<string, number> | undefined;
}

/**
 * Keeps which requests clients have sent to this process, and who has answered: counts for some minutes and the newest
 * requests one by one. Costs a request a bounded time. No names of objects, no queries, no bodies.
 */
export class FlowRecorder {
  readonly #options: FlowRecorderOptions;
  readonly #slots: FlowRow[] = [];
  readonly #seconds: FlowSeconds;
  readonly #clients = new ClientCounts();
  readonly #uses = new ResourceUses();
  readonly #prevented: { fromMs: number; toMs: number; count: number }[] = [];
  #lastId = 0;
  #left = 0;
  #rowsSecond = 0;
  #rowsInSecond = 0;

  constructor(options: FlowRecorderOptions) {
    this.#options = options;
    this.#seconds = new FlowSeconds(options.clock.nowMs());
  }

  /** Counts one reply. `known`: some live server serves the resource. */
  record(exchange: Exchange, status: number, tookMs: number, known: boolean): void {
    if (!isOfClient(exchange) || !isOfKnownCaller(exchange, status)) return;
    const { info, routed, heldBack, prevented404, failovers } = exchange;
    const nowMs = this.#options.clock.nowMs();
    const rerouted = heldBack === undefined && routed !== undefined && routed.to !== 'local';
    this.#seconds.count(nowMs, {
      rerouted,
      prevented404,
      held503: heldBack !== undefined,
      failovers,
    });
    if (prevented404) this.#notePrevented(nowMs);
    if (info.isResource && known) this.#uses.note(info, nowMs);
    const userAgent = headerValue(exchange.headers, 'user-agent') ?? '';
    this.#clients.count(userAgent, { nowMs, wouldHaveFailed: rerouted && isAnswer(status) });
    this.#keep(exchange, { status, tookMs, known, userAgent, nowMs });
  }

  export({ withUses }: { readonly withUses: boolean }): FlowExport {
    const { clock, inFlight } = this.#options;
    const nowMs = clock.nowMs();
    return {
      rows: this.#rows(),
      seconds: this.#seconds.complete(nowMs),
      totals: this.#seconds.totals(),
      left: this.#left,
      clients: this.#clients.rows(),
      clientsLeft: this.#clients.left,
      prevented: this.#prevented.map((each) => ({ ...each })),
      inFlight: inFlight(),
      used: withUses ? this.#uses.byName() : undefined,
    };
  }

  #keep(
    exchange: Exchange,
    reply: { status: number; tookMs: number; known: boolean; userAgent: string; nowMs: number },
  ): void {
    const second = Math.floor(reply.nowMs / 1_000);
    if (second !== this.#rowsSecond) {
      this.#rowsSecond = second;
      this.#rowsInSecond = 0;
    }
    this.#rowsInSecond += 1;
    if (this.#rowsInSecond > FLOW_ROWS_PER_SECOND_MAX) {
      this.#left += 1;
      return;
    }
    this.#lastId += 1;
    const { serverName, isRemembered } = this.#options;
    const { info, routed, heldBack } = exchange;
    const row: FlowRow = {
      id: this.#lastId,
      atMs: exchange.startedAtMs,
      arrivedAt: serverName,
      answeredBy: answererOf(exchange, serverName),
      verb: verbLabel(info),
      resource: requestLabel(info, reply.known || (info.isResource && isRemembered(info))),
      userAgent: shownUserAgent(reply.userAgent),
      status: reply.status,
      why: detachedText(printableLine(heldBack ?? routed?.why ?? '').slice(0, WHY_CHARS_MAX)),
      ms: Math.round(reply.tookMs * 100) / 100,
      kind: kindOf(exchange),
    };
    this.#slots[this.#lastId % FLOW_ROWS_MAX] = row;
  }

  #rows(): FlowRow[] {
    const rows: FlowRow[] = [];
    for (let id = Math.max(1, this.#lastId - FLOW_ROWS_MAX + 1); id <= this.#lastId; id++) {
      const row = this.#slots[id % FLOW_ROWS_MAX];
      if (row) rows.push(row);
    }
    return rows;
  }

  #notePrevented(nowMs: number): void {
    const last = this.#prevented.at(-1);
    if (last && nowMs - last.toMs < PREVENTED_PAUSE_MS) {
      last.toMs = Math.max(last.toMs, nowMs);
      last.count += 1;
      return;
    }
    this.#prevented.push({ fromMs: nowMs, toMs: nowMs, count: 1 });
    if (this.#prevented.length > PREVENTED_RUNS_MAX) this.#prevented.shift();
  }
}

/**
 * Returns whether a client sent the request here. One that a peer rerouted is recorded where it arrived first; health pages and
 * this page itself would hide the others.
 */
function isOfClient({ info, identity, peerProxied, trustedProxy }: Exchange): boolean {
  if (peerProxied) return false;
  if (!info.isResource) {
    const { path } = info;
    return path !== '/livez' && path !== '/readyz' && path !== '/healthz' && !path.startsWith('/straddle');
  }
  return !(trustedProxy && identity.kind === 'established' && identity.user === STRADDLE_USER);
}

/**
 * Returns whether a server knows who the caller is. Others can send any number of requests with invented user agents, which would
 * fill what the page keeps.
 */
function isOfKnownCaller(exchange: Exchange, status: number): boolean {
  const { identity, connection } = exchange;
  if (status === 401) return false;
  if (identity.kind === 'established') return identity.user !== ANONYMOUS_USER;
  // Connections of a load balancer have requests of several callers, also such without credentials.
  return identity.proven || (connection.authenticated === true && bearerCredential(exchange) !== undefined);
}

/**
 * Returns whether a request has got what it asked for, or a refusal that depends on it (as of a wrong body). Without the reroute a
 * client would have seen refused rights and a missing object alike, and a peer that is busy or fails has done nothing for it.
 */
function isAnswer(status: number): boolean {
  return status < 500 && status !== 401 && status !== 403 && status !== 404 && status !== 429;
}

function kindOf({ routed, heldBack }: Exchange): FlowRow['kind'] {
  if (heldBack !== undefined) return 'held';
  if (!routed) return 'own';
  return routed.to === 'local' ? 'local' : 'rerouted';
}

function answererOf({ routed, heldBack }: Exchange, serverName: string): string | null {
  if (heldBack !== undefined || !routed) return null;
  return routed.to === 'local' ? serverName : routed.to;
}

import { setTimeout as delay } from 'node:timers/promises';
import { BodyStream } from '../../http/body-stream.js';
import type { Exchange, Filter, Handler, Reply } from '../../http/exchange.js';
import { gatherSmallBody } from '../../http/gather-body.js';
import { headerValue } from '../../http/headers.js';
import type { Json } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { checkKeys } from './check-keys.js';
import { cuttable } from './cuttable-body.js';
import { durationMs } from './duration.js';
import { conflict, expired, isDiscoveryOf, mayExpire, reasonOf, withoutGroup } from './fault-replies.js';
import type { DelayOptions, FailOptions, Fault, FaultOptions, Faults } from './faults.js';
import { RequestRecorder } from './recorder.js';
import { checkMatch, type MatchedRequest, matches, type RequestMatch } from './request-match.js';

/** The `User-Agent` of Straddle's own requests, and of this library's. */
const OWN_USER_AGENT = 'straddle';

interface ActiveFault extends Fault {
  readonly isMet: (request: MatchedRequest, exchange: Exchange) => boolean;
  /** Replies in place of the servers, throws, or does something and returns undefined. */
  readonly apply: (exchange: Exchange, next: Handler) => Promise<Reply | undefined>;
  readonly times: number;
  hits: number;
}

interface OpenWatch {
  readonly request: MatchedRequest;
  cut: () => void;
}

/** The requests of clients at all servers: records them, and lets them meet faults. */
export class Traffic implements Omit<Faults, 'down'> {
  readonly #recorders = new Set<RequestRecorder>();
  readonly #faults = new Set<ActiveFault>();
  readonly #watches = new Set<OpenWatch>();

  /** The filter in the chain of a server. */
  filterOf(server: string): Filter {
    return { name: 'test', wrap: (next) => (exchange) => this.#pass(server, exchange, next) };
  }

  record(match: RequestMatch = {}): RequestRecorder {
    const recorder = new RequestRecorder(match, (stopped) => this.#recorders.delete(stopped));
    this.#recorders.add(recorder);
    return recorder;
  }

  expire(match: RequestMatch = {}, options: FaultOptions = {}): Fault {
    const fault = this.#add('expire', match, {
      times: timesOf('expire', options, 1),
      where: (_, exchange) => mayExpire(exchange),
      apply: async (exchange) => expired(exchange),
    });
    this.cutWatches(match);
    return fault;
  }

  conflict(match: RequestMatch = {}, options: FaultOptions = {}): Fault {
    return this.#add('conflict', match, {
      times: timesOf('conflict', options, 1),
      where: ({ verb }) => verb === 'update' || verb === 'patch',
      apply: async (exchange) => conflict(exchange),
    });
  }

  fail(match: RequestMatch, options: FailOptions): Fault {
    const times = timesOf('fail', options, Number.POSITIVE_INFINITY, ['status']);
    const reason = reasonOf(options.status);
    if (reason === undefined) throw new Error(`fail: no error of an API server has the status ${options.status}.`);
    return this.#add('fail', match, {
      times,
      apply: async () => {
        throw new StatusError(reason, `a fault of the test: ${options.status}`);
      },
    });
  }

  delay(match: RequestMatch, options: DelayOptions): Fault {
    const times = timesOf('delay', options, Number.POSITIVE_INFINITY, ['by']);
    const ms = durationMs('delay: by', options.by);
    return this.#add('delay', match, { times, apply: (exchange) => paused(exchange, ms) });
  }

  hideFromDiscovery(group: string, options: FaultOptions = {}): Fault {
    if (typeof group !== 'string' || group === '' || group.includes('/'))
      throw new Error(
        `hideFromDiscovery: give the name of a group, such as 'example.com', not ${JSON.stringify(group)}.`,
      );
    return this.#add(
      'hideFromDiscovery',
      {},
      {
        times: timesOf('hideFromDiscovery', options, Number.POSITIVE_INFINITY),
        where: (_, exchange) => isDiscoveryOf(group, exchange),
        apply: (exchange, next) => withoutGroup(group, exchange, next),
      },
    );
  }

  cutWatches(match: RequestMatch = {}): number {
    checkMatch('cutWatches', match, { hasReply: false });
    const meant = [...this.#watches].filter(({ request }) => matches(match, request));
    for (const watch of meant) watch.cut();
    return meant.length;
  }

  clear(): void {
    this.#faults.clear();
  }

  #add(
    where: string,
    match: RequestMatch,
    kind: Pick<ActiveFault, 'times' | 'apply'> & { readonly where?: ActiveFault['isMet'] },
  ): Fault {
    checkMatch(where, match, { hasReply: false });
    const fault: ActiveFault = {
      times: kind.times,
      hits: 0,
      isMet: (request, exchange) => matches(match, request) && (kind.where?.(request, exchange) ?? true),
      apply: kind.apply,
      end: () => this.#faults.delete(fault),
    };
    this.#faults.add(fault);
    return fault;
  }

  async #pass(server: string, exchange: Exchange, next: Handler): Promise<Reply> {
    if (exchange.peerProxied || isOwn(exchange)) return next(exchange);
    const request = described(server, exchange);
    const recorders = [...this.#recorders];
    if (recorders.length > 0) await gatherSmallBody(exchange);
    let status = 0;
    try {
      const reply = await this.#meetFaults(request, exchange, next);
      status = reply.status;
      return this.#tracked(request, reply);
    } catch (error) {
      if (!exchange.aborted) status = error instanceof StatusError ? error.status.code : 500;
      throw error;
    } finally {
      const recorded = recorders.length === 0 ? undefined : { ...request, ...detailsOf(exchange), status };
      for (const recorder of recorders) if (this.#recorders.has(recorder)) recorder.take(recorded!);
    }
  }

  async #meetFaults(request: MatchedRequest, exchange: Exchange, next: Handler): Promise<Reply> {
    for (const fault of [...this.#faults]) {
      if (!this.#faults.has(fault) || !fault.isMet(request, exchange)) continue;
      fault.hits++;
      if (fault.hits >= fault.times) this.#faults.delete(fault);
      const reply = await fault.apply(exchange, next);
      if (reply !== undefined) return reply;
    }
    return next(exchange);
  }

  /** Makes an open watch one that can be cut. */
  #tracked(request: MatchedRequest, reply: Reply): Reply {
    if (request.verb !== 'watch' || !(reply.body instanceof BodyStream)) return reply;
    const watch: OpenWatch = { request, cut: () => {} };
    let isOver = false;
    const { body, cut } = cuttable(reply.body, () => {
      isOver = true;
      this.#watches.delete(watch);
    });
    // A body that is complete already is over before it can be cut.
    watch.cut = cut;
    if (!isOver) this.#watches.add(watch);
    return { ...reply, body };
  }
}

/** The library's own requests and those between servers. A client that spoofs it only hides itself from its test. */
function isOwn({ headers, trustedProxy }: Exchange): boolean {
  return trustedProxy && headerValue(headers, 'user-agent') === OWN_USER_AGENT;
}

function described(server: string, { info, identity, headers, target }: Exchange): MatchedRequest {
  const { verb, group, resource, subresource, namespace, name } = info;
  return {
    ...{ server, verb, group, resource, subresource, namespace, name },
    user: identity.kind === 'established' ? identity.user : 'system:anonymous',
    userAgent: headerValue(headers, 'user-agent') ?? '',
    path: target,
  };
}

function detailsOf({ method, info, identity, gatheredBody, begunAt }: Exchange) {
  return {
    method,
    version: info.version,
    groups: identity.kind === 'established' ? identity.groups : [],
    body: gatheredBody === undefined ? undefined : parsed(gatheredBody),
    durationMs: performance.now() - begunAt,
  };
}

function parsed(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}

/** Ends early when the client leaves. */
async function paused(exchange: Exchange, ms: number): Promise<undefined> {
  const left = new AbortController();
  const forget = exchange.onAbort(() => left.abort());
  await delay(ms, undefined, { ref: false, signal: left.signal }).catch(() => {});
  forget();
}

function timesOf(where: string, options: FaultOptions, standard: number, also: readonly string[] = []): number {
  if (typeof options !== 'object' || options === null) throw new Error(`${where}: give an object with options.`);
  checkKeys(where, options, ['times', ...also]);
  const { times = standard } = options;
  if (!(times >= 1)) throw new Error(`${where}: times must be 1 or more, not ${times}.`);
  return times;
}

import type { Clock } from '../../base/clock.js';
import { printableLine } from '../../base/printable.js';
import { someNames } from '../../base/some-names.js';
import type { Surface } from '../../kube/surface.js';
import { newNames, withoutParts } from '../../kube/surface-matrix.js';
import type { PreventedRun } from './flow-recorder.js';
import type { ServerState, Timeline, TimelineEvent, TimelineSpan } from './page-state.js';
import { type FactSources, type ServerFacts, serverFacts, versionOf } from './server-facts.js';

export const EVENTS_MAX = 400;
export const LANES_MAX = 300;
export const SPANS_PER_LANE_MAX = 200;
/** A server whose API server takes no requests for a moment changes nothing that others are told of. */
const LOOK_EVERY_MS = 1_000;

/** The time in which the servers that are there are found. */
const START_MS_MAX = 30_000;

type State = ServerState['state'];
type OpenSpan = { -readonly [Key in keyof TimelineSpan]: TimelineSpan[Key] };

interface Lane {
  readonly spans: OpenSpan[];
  surface: Surface | undefined;
  wasReady: boolean;
  /** Where it answered when it was last ready. */
  addresses: readonly string[];
}

export interface TimelineOptions {
  readonly sources: FactSources;
  readonly clock: Clock;
}

/** Records since the start which server was there as which version, and what its APIs gained and lost. */
export class TimelineRecorder {
  readonly #options: TimelineOptions;
  readonly #startedAtMs: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #events: TimelineEvent[] = [];
  readonly #forget: (() => void)[] = [];
  #isMissingCut = false;
  #passthrough = false;
  #cancelLook = () => {};
  #longestGap: { server: string; ms: number } | null = null;

  constructor(options: TimelineOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.nowMs();
    this.#passthrough = options.sources.passthrough().on;
  }

  start(): void {
    const { local, directory } = this.#options.sources;
    this.#forget.push(local.onChange(() => this.look()));
    this.#forget.push(directory.onChange(() => this.look()));
    this.#lookLater();
  }

  close(): void {
    this.#cancelLook();
    for (const forget of this.#forget.splice(0)) forget();
  }

  /** Compares the servers with what they were at the last look. */
  look(): void {
    const { sources } = this.#options;
    const nowMs = sources.nowMs();
    const facts = serverFacts(sources);
    for (const each of facts) this.#note(each, nowMs);
    const present = new Set(facts.map(({ name }) => name));
    for (const [name, lane] of this.#lanes) if (!present.has(name)) this.#close(name, lane, nowMs);
    const { on, reason } = sources.passthrough();
    if (on !== this.#passthrough) {
      this.#passthrough = on;
      const why = on && reason !== '' ? `: ${reason}` : '';
      this.#add({
        atMs: nowMs,
        server: sources.serverName,
        kind: 'passthrough',
        text: `passthrough ${on ? 'on' : 'off'}${why}`,
      });
    }
  }

  /**
   * Returns the servers that were ready since the start and that no source names any more, though nobody knows that they will
   * not come back. One that answers under another name now is not missing.
   */
  missing(): { readonly names: readonly string[]; readonly isCut: boolean } {
    const lanes = [...this.#lanes];
    const answering = new Set(lanes.flatMap(([, { spans, addresses }]) => (isReadyNow(spans) ? addresses : [])));
    const names = lanes
      .filter(([, { wasReady, spans }]) => wasReady && spans.at(-1)?.toMs !== null)
      .filter(([, { addresses }]) => !addresses.some((address) => answering.has(address)))
      .map(([name]) => name);
    return { names: names.sort(), isCut: this.#isMissingCut };
  }

  /** `prevented` is of the flow, which has more than one process. */
  timeline(prevented: readonly PreventedRun[]): Timeline {
    const nowMs = this.#options.sources.nowMs();
    const runs = prevented.map(({ fromMs, count }): TimelineEvent => {
      const text = count === 1 ? '1 wrong 404 prevented' : `${count} wrong 404s prevented`;
      return { atMs: fromMs, server: this.#options.sources.serverName, kind: 'prevented-404', text };
    });
    return {
      startedAtMs: this.#startedAtMs,
      lanes: [...this.#lanes]
        .map(([server, { spans }]) => ({ server, spans: spans.map((span) => ({ ...span })) }))
        .sort((a, b) => (a.server < b.server ? -1 : 1)),
      events: [...this.#events, ...runs].sort((a, b) => a.atMs - b.atMs).slice(-EVENTS_MAX),
      longestGap: this.#gapWith(nowMs),
    };
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.clock.after(LOOK_EVERY_MS, () => {
      this.look();
      this.#lookLater();
    });
  }

  #note({ name, state, surface, detail, endpoints }: ServerFacts, nowMs: number): void {
    const version = versionOf(surface);
    let lane = this.#lanes.get(name);
    if (!lane) {
      lane = { spans: [], surface: undefined, wasReady: false, addresses: [] };
      this.#lanes.set(name, lane);
      if (this.#lanes.size > LANES_MAX) this.#dropOldest(name);
    }
    const last = lane.spans.at(-1);
    if (!last || last.toMs !== null || last.state !== state || (state === 'ready' && last.version !== version)) {
      this.#span(name, lane, { fromMs: nowMs, toMs: null, state, version: version ?? last?.version ?? null }, detail);
    }
    // What is remembered of a departed server is a part of its APIs.
    if (state !== 'ready') return;
    this.#noteSurface(name, lane, surface, nowMs);
    lane.wasReady = true;
    lane.addresses = endpoints.filter(({ usable }) => usable).map(({ address }) => address);
  }

  #span(name: string, lane: Lane, span: OpenSpan, detail: string): void {
    const last = lane.spans.at(-1);
    const lastReady = lane.spans.findLast(({ state }) => state === 'ready');
    if (last?.toMs === null) last.toMs = span.fromMs;
    lane.spans.push(span);
    if (lane.spans.length > SPANS_PER_LANE_MAX) lane.spans.shift();
    const { fromMs: atMs, state, version } = span;
    if (state === 'ready') {
      const isNew =
        lastReady !== undefined && version !== null && lastReady.version !== null && version !== lastReady.version;
      if (last && last.state !== 'ready') {
        this.#gapEnded(name, lane, atMs);
        if (isNew) {
          const text = `${name} came back as ${version} (was ${lastReady.version})`;
          this.#add({ atMs, server: name, kind: 'version', text });
        } else if (lastReady || !this.#isStarting(atMs)) {
          this.#add({
            atMs,
            server: name,
            kind: 'came',
            text: lastReady ? `${name} came back` : cameText(name, version),
          });
        }
      } else if (isNew) {
        this.#add({ atMs, server: name, kind: 'version', text: `${name} is ${version} (was ${lastReady.version})` });
      } else if (!last && !this.#isStarting(atMs)) {
        this.#add({ atMs, server: name, kind: 'came', text: cameText(name, version) });
      }
    } else if (last?.state === 'ready') {
      this.#add({ atMs, server: name, kind: 'left', text: leftText(name, state, detail) });
    }
  }

  /** Servers that this process finds at its own start were there before. */
  #isStarting(nowMs: number): boolean {
    return nowMs - this.#startedAtMs < START_MS_MAX;
  }

  #noteSurface(name: string, lane: Lane, surface: Surface | undefined, nowMs: number): void {
    const before = lane.surface;
    lane.surface = surface;
    if (!before || !surface || before === surface) return;
    const appeared = withoutParts(newNames(surface, before));
    const gone = withoutParts(newNames(before, surface));
    if (appeared.length > 0)
      this.#add({ atMs: nowMs, server: name, kind: 'api-appeared', text: `${name} serves ${someNames(appeared)}` });
    if (gone.length > 0)
      this.#add({ atMs: nowMs, server: name, kind: 'api-gone', text: `${name} no longer serves ${someNames(gone)}` });
  }

  /** A server that no source names any more, and of which nothing is remembered. */
  #close(name: string, lane: Lane, nowMs: number): void {
    const last = lane.spans.at(-1);
    if (!last || last.toMs !== null) return;
    last.toMs = nowMs;
    if (last.state === 'ready') this.#add({ atMs: nowMs, server: name, kind: 'left', text: `${name} left` });
  }

  #gapEnded(server: string, lane: Lane, nowMs: number): void {
    const ms = gapOf(lane.spans.slice(0, -1), nowMs);
    if (ms > (this.#longestGap?.ms ?? 0)) this.#longestGap = { server, ms };
  }

  /** The longest gap, of those that go on too. */
  #gapWith(nowMs: number): { server: string; ms: number } | null {
    let longest = this.#longestGap;
    for (const [server, { spans }] of this.#lanes) {
      if (spans.at(-1)?.toMs !== null) continue;
      const ms = gapOf(spans, nowMs);
      if (ms > (longest?.ms ?? 0)) longest = { server, ms };
    }
    return longest;
  }

  #add(event: TimelineEvent): void {
    this.#events.push(event);
    if (this.#events.length > EVENTS_MAX) this.#events.shift();
  }

  #dropOldest(but: string): void {
    for (const [name, { spans, wasReady }] of this.#lanes) {
      if (name === but || spans.at(-1)?.toMs === null) continue;
      this.#isMissingCut ||= wasReady;
      this.#lanes.delete(name);
      return;
    }
    this.#lanes.delete(but);
  }
}

function isReadyNow(spans: readonly TimelineSpan[]): boolean {
  const last = spans.at(-1);
  return last?.toMs === null && last.state === 'ready';
}

function leftText(name: string, state: State, detail: string): string {
  if (state === 'gone') return `${name} left`;
  return detail === '' ? `${name} does not answer` : `${name} does not answer: ${printableLine(detail)}`;
}

function cameText(name: string, version: string | null): string {
  return version === null ? `${name} came` : `${name} came as ${version}`;
}

/** Returns for how long a server that was ready has not been so at the end of its spans; 0 if it is. */
function gapOf(spans: readonly TimelineSpan[], untilMs: number): number {
  const isReady = ({ state }: { readonly state: State }) => state === 'ready';
  const lastReady = spans.findLastIndex(isReady);
  const first = spans[lastReady + 1];
  return lastReady < 0 || !first ? 0 : untilMs - first.fromMs;
}

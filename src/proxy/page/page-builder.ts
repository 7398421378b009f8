import { WorkSlices } from '../../base/work-slices.js';
import type { Surface } from '../../kube/surface.js';
import type { DifferingRows } from '../../kube/surface-matrix.js';
import { checksState } from './checks-state.js';
import { FlowLog, type SourcedFlow } from './flow-log.js';
import { isProtected, type PageFacts, reachState, serverStates } from './page-facts.js';
import { type PageSnapshot, SECTION_NAMES, type Section, type SectionName } from './page-snapshot.js';
import type { PageState, Skew } from './page-state.js';
import type { ReachReader } from './reach-reader.js';
import { type FactSources, type ServerFacts, serverFacts } from './server-facts.js';
import { skewColumns, skewRows, skewState } from './skew-state.js';
import { soleResources } from './sole-resources.js';
import type { TimelineRecorder } from './timeline-recorder.js';
import { verdictState } from './verdict-state.js';

export interface PageBuilderOptions {
  readonly sources: FactSources;
  readonly product: PageState['product'];
  readonly straddleVersion: string;
  readonly reach: Pick<ReachReader, 'look' | 'documents'>;
  readonly timeline: Pick<TimelineRecorder, 'look' | 'timeline' | 'missing'>;
  /** Returns what the recorders of all processes hold. Must not reject. */
  readonly flows: (options: { readonly withUses: boolean }) => Promise<readonly SourcedFlow[]>;
}

/** The list of uses is long, and exact to the minute only. */
const USES_EVERY_MS = 15_000;

/** Builds the state of the page. Called while somebody looks, and never twice at once. */
export class PageBuilder {
  readonly #options: PageBuilderOptions;
  readonly #log = new FlowLog();
  readonly #sections = new Map<SectionName, Section>();
  #usesAtMs = Number.NEGATIVE_INFINITY;
  #rowsFrom: readonly (Surface | undefined)[] = [];
  #rows: DifferingRows = { rows: [], alike: 0 };
  #soleFrom: readonly (string | Surface)[] = [];
  #soleAt: PageFacts['soleAt'] = new Map();
  #skew: { readonly skew: Skew; readonly standing: string; readonly used: ReadonlyMap<string, number> } | undefined;
  readonly #values = new Map<SectionName, unknown>();

  constructor(options: PageBuilderOptions) {
    this.#options = options;
  }

  async build(): Promise<PageSnapshot> {
    const { sources, reach, timeline, flows, product, straddleVersion } = this.#options;
    const withUses = Math.abs(sources.nowMs() - this.#usesAtMs) >= USES_EVERY_MS;
    if (withUses) this.#usesAtMs = sources.nowMs();
    const [recorded] = await Promise.all([flows({ withUses }), reach.look()]);
    this.#log.take(recorded);
    timeline.look();
    const servers = serverFacts(sources);
    const facts = this.#facts(servers, await this.#soleOf(servers));
    const skew = await this.#skewOf(facts);
    const flow = this.#log.flow();
    const values: { readonly [Name in SectionName]: PageState[Name] } = {
      verdict: verdictState(facts, skew, flow.totals),
      servers: serverStates(facts),
      reach: reachState(facts),
      skew,
      timeline: timeline.timeline(this.#log.prevented()),
      clients: this.#log.clients(),
      checks: checksState(facts),
    };
    for (const name of SECTION_NAMES) this.#encode(name, values[name]);
    return {
      about: { server: sources.serverName, product, straddleVersion, atMs: facts.nowMs },
      sections: Object.fromEntries(this.#sections) as PageSnapshot['sections'],
      flow,
    };
  }

  #facts(servers: readonly ServerFacts[], soleAt: PageFacts['soleAt']): PageFacts {
    const { sources, reach, timeline } = this.#options;
    const { synced, leftOutCount, conflicts } = sources.directory.describe();
    return {
      nowMs: sources.nowMs(),
      inFlight: this.#log.inFlight(),
      servers,
      documents: reach.documents,
      peeringActive: sources.peeringActive,
      passthrough: sources.passthrough().on,
      synced,
      leftOutCount,
      conflictCount: conflicts.length,
      certificateExpiresAtMs: sources.certificateExpiresAtMs(),
      frontProxyExpiresAtMs: sources.frontProxyExpiresAtMs(),
      ownNames: sources.ownNames,
      draining: sources.isDraining(),
      missing: timeline.missing(),
      soleAt,
    };
  }

  async #soleOf(servers: readonly ServerFacts[]): Promise<PageFacts['soleAt']> {
    const from = servers.flatMap(({ name, state, surface }) => (state === 'ready' && surface ? [name, surface] : []));
    const isSame = from.length === this.#soleFrom.length && from.every((each, i) => each === this.#soleFrom[i]);
    if (!isSame) {
      this.#soleAt = await new WorkSlices().run(soleResources(servers));
      this.#soleFrom = from;
    }
    return this.#soleAt;
  }

  /** Returns the same matrix until something in it may have changed: it is by far the largest part. */
  async #skewOf(facts: PageFacts): Promise<Skew> {
    const from = surfacesOf(facts.servers);
    const sameSurfaces = from.length === this.#rowsFrom.length && from.every((each, i) => each === this.#rowsFrom[i]);
    if (!sameSurfaces) {
      this.#rows = await new WorkSlices().run(skewRows(facts.servers));
      this.#rowsFrom = from;
    }
    const columns = skewColumns(facts.servers, (server) => isProtected(server, facts));
    const standing = columns.map(({ name, isLive, isProtected: is }) => `${name} ${isLive} ${is}`).join('\n');
    const used = this.#log.used();
    const before = this.#skew;
    if (before && sameSurfaces && before.standing === standing && before.used === used) return before.skew;
    const skew = skewState(this.#rows, columns, used);
    this.#skew = { skew, standing, used };
    return skew;
  }

  /** Encodes a section, unless its value is the same object as before. */
  #encode(name: SectionName, value: unknown): void {
    if (this.#values.get(name) === value) return;
    this.#values.set(name, value);
    const json = JSON.stringify(value);
    const before = this.#sections.get(name);
    if (before?.json !== json) this.#sections.set(name, { number: (before?.number ?? 0) + 1, json });
  }
}

/** The surfaces that the rows are made of, in order, and which of them are only remembered. */
function surfacesOf(servers: readonly ServerFacts[]): (Surface | undefined)[] {
  const live = servers.filter(({ state }) => state !== 'gone').map(({ surface }) => surface);
  const gone = servers.filter(({ state }) => state === 'gone').map(({ surface }) => surface);
  return [...live, undefined, ...gone];
}

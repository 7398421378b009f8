import type { Flow, FlowRow, FlowSecond, FlowUpdate, PageState } from '../../src/proxy/page/page-state.js';

/** Requests and seconds that the page keeps, whatever comes. */
export const FLOW_ROWS_MAX = 500;
export const FLOW_SECONDS_MAX = 300;

const SECTIONS = ['verdict', 'servers', 'reach', 'skew', 'timeline', 'clients', 'checks'] as const;
type Section = (typeof SECTIONS)[number];

export const EVENT_NAMES = ['state', ...SECTIONS, 'flow', 'alive'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

const FORMAT_VERSION = 1;

/** Characters that `readable` replaces, and the escapes that they may hide behind in JSON. */
const SUSPECT = /\\u|[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const HIDDEN = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Parses JSON of the server. Control characters, which could make text appear as another one, are replaced in all of it. */
export function parseUntrusted(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value) => (typeof value === 'string' ? value.replace(HIDDEN, '\ufffd') : value));
}

/** Throws with a sentence for the reader if it is no state that this page can show. */
export function asPageState(value: unknown): PageState {
  const { kind, formatVersion } = (value ?? {}) as Partial<PageState>;
  if (kind !== 'StraddleState') throw new Error('the answer is not a state of Straddle');
  if (formatVersion !== FORMAT_VERSION) {
    throw new Error('this Straddle is of another version than the page: reload the page');
  }
  return value as PageState;
}

/** Returns the state after an event of the stream. */
export function foldEvent(state: PageState, name: Section | 'flow', data: unknown): PageState {
  if (name === 'flow') return { ...state, flow: foldFlow(state.flow, data as FlowUpdate) };
  return { ...state, [name]: data };
}

/** Bounds lists of a first state, which may be longer than what the page keeps. */
export function bounded(state: PageState): PageState {
  return {
    ...state,
    flow: foldFlow({ ...state.flow, recent: [], seconds: [] }, { ...state.flow, rows: state.flow.recent }),
  };
}

function foldFlow(flow: Flow, { rows, seconds, totals, left }: FlowUpdate): Flow {
  return {
    recent: rows.length === 0 ? flow.recent : joinById(flow.recent, rows),
    seconds: seconds.length === 0 ? flow.seconds : joinByTime(flow.seconds, seconds),
    totals,
    left,
  };
}

/** Newest first, each request once. */
function joinById(old: readonly FlowRow[], added: readonly FlowRow[]): readonly FlowRow[] {
  const byId = new Map([...old, ...added].map((row) => [row.id, row]));
  return [...byId.values()].sort((left, right) => right.id - left.id).slice(0, FLOW_ROWS_MAX);
}

/** Oldest first; a second that comes again replaces what was counted of it before. */
function joinByTime(old: readonly FlowSecond[], added: readonly FlowSecond[]): readonly FlowSecond[] {
  const byTime = new Map([...old, ...added].map((second) => [second.atMs, second]));
  return [...byTime.values()].sort((left, right) => left.atMs - right.atMs).slice(-FLOW_SECONDS_MAX);
}

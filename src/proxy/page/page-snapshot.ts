import type { Flow, FlowUpdate, PageState } from './page-state.js';

/** The parts of a state that are sent again as a whole when they have changed. */
export const SECTION_NAMES = ['verdict', 'servers', 'reach', 'skew', 'timeline', 'clients', 'checks'] as const;
export type SectionName = (typeof SECTION_NAMES)[number];

/** One part of a state as JSON. The number changes with the text. */
export interface Section {
  readonly number: number;
  readonly json: string;
}

/** A state as it is kept and sent between processes: each part is encoded once for all readers. */
export interface PageSnapshot {
  readonly about: Pick<PageState, 'server' | 'product' | 'straddleVersion' | 'atMs'>;
  readonly sections: Readonly<Record<SectionName, Section>>;
  readonly flow: Flow;
}

/** What another process does not have yet. */
export interface PageUpdate extends Omit<PageSnapshot, 'sections'> {
  readonly sections: Readonly<Partial<Record<SectionName, Section>>>;
}

/** The numbers of the sections that a reader has. */
export type KnownSections = Readonly<Partial<Record<SectionName, number>>>;

/** Returns the document of GET /straddle/api/v1/state. */
export function stateJson({ about, sections, flow }: PageSnapshot): string {
  const head = JSON.stringify({ kind: 'StraddleState', formatVersion: 1, ...about }).slice(0, -1);
  const parts = SECTION_NAMES.map((name) => `"${name}":${sections[name].json}`);
  return `${head},${parts.join(',')},"flow":${JSON.stringify(flow)}}`;
}

const stateOf = new WeakMap<PageSnapshot, Buffer>();
const eventOf = new WeakMap<Section, Buffer>();

/** Returns the same document, encoded once for all readers: what a reader makes this process hold is then nothing of its own. */
export function stateBytes(snapshot: PageSnapshot): Buffer {
  let bytes = stateOf.get(snapshot);
  if (!bytes) {
    bytes = Buffer.from(stateJson(snapshot));
    stateOf.set(snapshot, bytes);
  }
  return bytes;
}

/** Returns the event of the stream for a section, encoded once for all readers. */
export function sectionEvent({ sections }: PageSnapshot, name: SectionName): Buffer {
  const section = sections[name];
  let bytes = eventOf.get(section);
  if (!bytes) {
    bytes = eventBytes(name, section.json);
    eventOf.set(section, bytes);
  }
  return bytes;
}

/** Returns a server-sent event. JSON has no line breaks, so that one `data` line is enough. */
export function eventBytes(name: string, json: string): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${json}\n\n`);
}

export function sectionOf<Name extends SectionName>(snapshot: PageSnapshot, name: Name): PageState[Name] {
  return JSON.parse(snapshot.sections[name].json) as PageState[Name];
}

/** Returns the sections that a reader lacks. */
export function updateFor(snapshot: PageSnapshot, known: KnownSections): PageUpdate {
  const changed = SECTION_NAMES.filter((name) => snapshot.sections[name].number !== known[name]);
  return { ...snapshot, sections: Object.fromEntries(changed.map((name) => [name, snapshot.sections[name]])) };
}

/** Joins an update with what the reader has; undefined if a section is still missing. */
export function updated(before: PageSnapshot | undefined, update: PageUpdate): PageSnapshot | undefined {
  const sections = { ...before?.sections, ...update.sections };
  const isWhole = SECTION_NAMES.every((name) => sections[name] !== undefined);
  return isWhole ? { ...update, sections: sections as PageSnapshot['sections'] } : undefined;
}

export function knownSections(snapshot: PageSnapshot | undefined): KnownSections {
  if (!snapshot) return {};
  return Object.fromEntries(SECTION_NAMES.map((name) => [name, snapshot.sections[name].number]));
}

/** What of the flow a reader has. */
export interface FlowPosition {
  readonly rowId: number;
  readonly secondMs: number;
}

export function flowPosition({ recent, seconds }: Flow): FlowPosition {
  return { rowId: recent[0]?.id ?? 0, secondMs: seconds.at(-1)?.atMs ?? 0 };
}

/** Returns what came after a position; undefined for nothing. */
export function flowUpdate({ recent, seconds, totals, left }: Flow, position: FlowPosition): FlowUpdate | undefined {
  const rows = recent.filter(({ id }) => id > position.rowId);
  const newer = seconds.filter(({ atMs }) => atMs > position.secondMs);
  return rows.length === 0 && newer.length === 0 ? undefined : { rows, seconds: newer, totals, left };
}

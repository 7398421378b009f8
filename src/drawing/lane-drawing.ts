import { type Scale, type Span, timeScale } from './scales.js';

/** A state of a server from one moment to another, in milliseconds from the start of the drawing. */
export interface LaneSpan {
  readonly fromMs: number;
  readonly toMs: number;
  /** The class that gives the bar its colour: `ready`, `down`, `changing`. */
  readonly kind: string;
  /** Inside the bar, if it fits. */
  readonly label: string;
  /** For the pointer, and for screen readers. */
  readonly title: string;
}

export interface Lane {
  readonly name: string;
  readonly spans: readonly LaneSpan[];
}

export interface LaneMark {
  readonly atMs: number;
  /** Null: of no single server; drawn in a row of its own above the lanes. */
  readonly lane: string | null;
  readonly kind: string;
  readonly title: string;
}

export interface LaneFrame {
  readonly width: number;
  readonly durationMs: number;
  /** The horizontal place of the bars; names stand left of it, or above the bars if `namesAbove`. */
  readonly across: Span;
  readonly namesAbove: boolean;
  readonly barHeight: number;
  /** What the clock shows at 0, so that ticks are at round times. */
  readonly clockMs: number;
  /** Estimated width of a letter, to decide whether a label fits into its bar. */
  readonly letterWidth: number;
  readonly tickText: (ms: number) => string;
  /** Distance between two ticks that their texts need. */
  readonly tickWidth: number;
}

export interface DrawnBar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly kind: string;
  readonly label: string;
  /** Behind marks that would cover the label. */
  readonly labelX: number;
  readonly title: string;
}

export interface DrawnName {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly title: string;
}

export interface DrawnMark {
  readonly x: number;
  readonly y: number;
  readonly kind: string;
  /** Of the marks that are drawn as this one because they are too near to each other. */
  readonly count: number;
  readonly title: string;
}

export interface DrawnTick {
  readonly x: number;
  readonly text: string;
}

export interface LaneDrawing {
  readonly width: number;
  readonly height: number;
  /** The vertical place of lanes and marks, for the lines of the ticks. */
  readonly from: number;
  readonly to: number;
  readonly names: readonly DrawnName[];
  readonly bars: readonly DrawnBar[];
  readonly marks: readonly DrawnMark[];
  readonly ticks: readonly DrawnTick[];
}

/** Of the height of a bar. */
const GAP_SHARE = 0.4;
const LABEL_INDENT = 7;
const NAME_HEIGHT = 17;
const MARKS_HEIGHT = 20;
const TICKS_HEIGHT = 22;
const TOP = 2;
/** Marks of one kind and lane that are nearer than this are drawn as one. */
const MARK_DISTANCE = 13;
const BAR_WIDTH_MIN = 1.5;

/**
 * Returns the shapes of a timeline with a lane for each server. A pure function of what happened, for the page, which draws with
 * elements, and for the report of a rehearsal, which writes text.
 */
export function drawLanes(lanes: readonly Lane[], marks: readonly LaneMark[], frame: LaneFrame): LaneDrawing {
  const { width, across, namesAbove, durationMs, barHeight } = frame;
  const ticksMax = Math.max(2, Math.floor((across.to - across.from) / frame.tickWidth));
  const time = timeScale(durationMs, across, ticksMax, frame.clockMs);
  const gap = Math.round(barHeight * GAP_SHARE);
  const names = new Set(lanes.map(({ name }) => name));
  const isShared = ({ lane }: LaneMark) => lane === null || !names.has(lane);
  const top = TOP + (marks.some(isShared) ? MARKS_HEIGHT : 0);
  const nameHeight = namesAbove ? NAME_HEIGHT : 0;
  const pitch = nameHeight + barHeight + gap;
  const barTop = (index: number) => top + index * pitch + nameHeight;
  const bottom = top + lanes.length * pitch - gap / 2;
  const above = joined(marks.filter(isShared), TOP + MARKS_HEIGHT / 2 - 2, time, durationMs);
  const drawn = lanes.map(({ name, spans }, index) => {
    const own = marks.filter(({ lane }) => lane === name);
    const drawnMarks = joined(own, barTop(index) + barHeight / 2, time, durationMs);
    return { marks: drawnMarks, bars: spans.flatMap((span) => barOf(span, barTop(index), time, frame, drawnMarks)) };
  });
  return {
    width,
    height: bottom + TICKS_HEIGHT,
    from: TOP,
    to: bottom,
    names: lanes.map(({ name }, index) => nameOf(name, barTop(index), frame)),
    bars: drawn.flatMap(({ bars }) => bars),
    marks: [...above, ...drawn.flatMap((lane) => lane.marks)],
    ticks: time.ticks
      .filter((tick) => tick <= durationMs)
      .map((tick) => ({ x: time.at(tick), text: frame.tickText(tick) })),
  };
}

function nameOf(name: string, barTop: number, { across, namesAbove, letterWidth, barHeight }: LaneFrame): DrawnName {
  if (namesAbove) return { x: across.from, y: barTop - 5, text: name, title: name };
  const room = Math.max(3, Math.floor((across.from - 10) / letterWidth));
  const text =
    name.length <= room ? name : `${name.slice(0, Math.ceil(room / 2) - 1)}…${name.slice(-Math.floor(room / 2))}`;
  return { x: across.from - 8, y: barTop + barHeight / 2 + 4, text, title: name };
}

function barOf(span: LaneSpan, y: number, time: Scale, frame: LaneFrame, marks: readonly DrawnMark[]): DrawnBar[] {
  const { durationMs, letterWidth, barHeight } = frame;
  const [fromMs, toMs] = [Math.max(0, span.fromMs), Math.min(durationMs, span.toMs)];
  if (toMs < fromMs) return [];
  const x = time.at(fromMs);
  const width = Math.max(BAR_WIDTH_MIN, Math.round((time.at(toMs) - x) * 10) / 10);
  const labelWidth = span.label.length * letterWidth;
  let labelX = x + LABEL_INDENT;
  for (const mark of [...marks].sort((left, right) => left.x - right.x)) {
    const isBefore = mark.x + MARK_DISTANCE / 2 < labelX || mark.x - MARK_DISTANCE / 2 > labelX + labelWidth;
    // The number of joined marks stands behind them.
    if (!isBefore) labelX = mark.x + MARK_DISTANCE / 2 + (mark.count > 1 ? 10 : 3);
  }
  const label = labelX + labelWidth < x + width - 3 ? span.label : '';
  return [{ x, y, width, height: barHeight, kind: span.kind, label, labelX, title: span.title }];
}

/** Returns the marks of one lane; those of a kind that would cover each other become one with their number. */
function joined(marks: readonly LaneMark[], y: number, time: Scale, durationMs: number): DrawnMark[] {
  const drawn: { x: number; y: number; kind: string; count: number; title: string }[] = [];
  const last = new Map<string, (typeof drawn)[number]>();
  const inOrder = marks
    .filter(({ atMs }) => atMs >= 0 && atMs <= durationMs)
    .sort((left, right) => left.atMs - right.atMs);
  for (const { atMs, kind, title } of inOrder) {
    const x = time.at(atMs);
    const before = last.get(kind);
    if (before !== undefined && x - before.x < MARK_DISTANCE) {
      before.count += 1;
      before.title = title;
      continue;
    }
    const mark = { x, y, kind, count: 1, title };
    drawn.push(mark);
    last.set(kind, mark);
  }
  return drawn.map((mark) =>
    mark.count === 1 ? mark : { ...mark, title: `${mark.count} events; the last: ${mark.title}` },
  );
}

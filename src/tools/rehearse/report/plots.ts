import { type Markup, markup } from '../../../base/markup.js';
import { drawLanes, type Lane } from '../../../drawing/lane-drawing.js';
import type { Scale, Span } from '../../../drawing/scales.js';
import type { RehearsalStep } from '../rehearsal-result.js';
import type { Bin } from './bins.js';
import { clockText, isQuiet, plural } from './words.js';

/** All plots of a report have the same width and the same time axis, so that they can be read from top to bottom. */
const PLOT_WIDTH = 560;
const PLOT_HEIGHT = 124;
const RIBBON_HEIGHT = 26;
export const ACROSS: Span = { from: 48, to: PLOT_WIDTH - 10 };
/** From the bottom to the top. */
export const UPWARDS: Span = { from: PLOT_HEIGHT - 22, to: 10 };
/** Estimated width of a letter, to decide whether a label fits into its band. */
const LETTER_WIDTH = 5.9;

export interface PlotFrame {
  /** Unique in the page. */
  readonly id: string;
  /** For screen readers. */
  readonly title: string;
  readonly description: string;
  readonly steps: readonly RehearsalStep[];
  readonly durationMs: number;
  readonly time: Scale;
}

export interface BarPlot extends PlotFrame {
  readonly bins: readonly Bin[];
  readonly value: (bin: Bin) => number;
  readonly noun: string;
  readonly scale: Scale;
  /** The class that gives the bars their colour. */
  readonly tint: string;
}

export function barPlot(plot: BarPlot): Markup {
  const { bins, value, scale, time, noun, tint } = plot;
  const base = UPWARDS.from;
  const bars = bins
    .filter((bin) => value(bin) > 0)
    .map((bin) => {
      const [left, right] = [time.at(bin.beginMs), time.at(bin.endMs)];
      const top = Math.min(scale.at(value(bin)), base - 1.5);
      const width = Math.max(1, round(right - left - (right - left > 3 ? 0.8 : 0)));
      const label = `${clockText(bin.beginMs)}: ${plural(value(bin), noun)}`;
      return markup`<rect x="${left}" y="${top}" width="${width}" height="${round(base - top)}"><title>${label}</title></rect>`;
    });
  const drawn =
    bars.length === 0
      ? markup`<text class="none" x="${(ACROSS.from + time.at(plot.durationMs)) / 2}" y="${(base + UPWARDS.to) / 2 + 4}">none</text>`
      : markup`<g class="${tint}">${bars}</g>`;
  return framed(plot, [axis(scale, plot, String), drawn]);
}

export interface LatencyPlot extends PlotFrame {
  readonly bins: readonly Bin[];
  readonly scale: Scale;
}

export function latencyPlot(plot: LatencyPlot): Markup {
  const { bins, scale, time } = plot;
  const line = (of: (bin: Bin) => number | undefined) => linePath(bins, of, time, scale);
  return framed(plot, [
    axis(scale, plot, millisecondsTick),
    markup`<path class="p99" d="${line(({ p99Ms }) => p99Ms)}"/><path class="p50" d="${line(({ p50Ms }) => p50Ms)}"/>`,
  ]);
}

/** Interrupted where no request succeeded; a single value between two gaps is a dot. */
function linePath(bins: readonly Bin[], of: (bin: Bin) => number | undefined, time: Scale, scale: Scale): string {
  const points: string[] = [];
  let isOpen = false;
  for (const bin of bins) {
    const value = of(bin);
    if (value === undefined) {
      isOpen = false;
      continue;
    }
    const [x, y] = [time.at((bin.beginMs + bin.endMs) / 2), scale.at(value)];
    points.push(isOpen ? `L${x} ${y}` : `M${x} ${y}h.01`);
    isOpen = true;
  }
  return points.join('');
}

function millisecondsTick(ms: number): string {
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms >= 1 ? ms : ms.toFixed(1)} ms`;
}

function axis(scale: Scale, { time, durationMs }: PlotFrame, text: (value: number) => string): Markup {
  const right = time.at(durationMs);
  return markup`<g class="grid">${scale.ticks.map((tick) => markup`<line x1="${ACROSS.from}" x2="${right}" y1="${scale.at(tick)}" y2="${scale.at(tick)}"/>`)}</g><g class="values">${scale.ticks.map((tick) => markup`<text x="${ACROSS.from - 7}" y="${scale.at(tick) + 3.5}">${text(tick)}</text>`)}</g>`;
}

function framed(frame: PlotFrame, content: readonly Markup[]): Markup {
  const { id, title, description, time, durationMs } = frame;
  const ticks = time.ticks.filter((tick) => tick <= durationMs);
  return markup`<svg viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>
${bands(frame)}${content}<g class="times">${ticks.map((tick) => markup`<text x="${time.at(tick)}" y="${PLOT_HEIGHT - 6}">${clockText(tick)}</text>`)}</g></svg>
`;
}

function bands({ steps, time }: PlotFrame): Markup {
  const changing = steps.filter((step) => !isQuiet(step));
  return markup`<g class="bands">${changing.map((step) => markup`<rect x="${time.at(step.beginMs)}" y="${UPWARDS.to}" width="${bandWidth(step, time)}" height="${UPWARDS.from - UPWARDS.to}"/>`)}</g>`;
}

function bandWidth({ beginMs, endMs }: RehearsalStep, time: Scale): number {
  return Math.max(1, round(time.at(endMs) - time.at(beginMs)));
}

/** Returns the steps above the plots, with their numbers, and their names if they fit. */
export function stepRibbon(frame: PlotFrame): Markup {
  const { id, title, description, steps, time } = frame;
  const drawn = steps.flatMap((step, index) => {
    if (isQuiet(step)) return [];
    const width = bandWidth(step, time);
    const middle = round(time.at(step.beginMs) + width / 2);
    const number = String(index + 1);
    const label = `${number} ${step.name}`;
    const shown = label.length * LETTER_WIDTH < width - 6 ? label : number;
    return markup`<g><title>${label}, ${clockText(step.beginMs)}–${clockText(step.endMs)}</title><rect x="${time.at(step.beginMs)}" y="4" width="${width}" height="${RIBBON_HEIGHT - 4}"/><text x="${middle}" y="19">${shown}</text></g>`;
  });
  return markup`<svg class="ribbon" viewBox="0 0 ${PLOT_WIDTH} ${RIBBON_HEIGHT}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>${drawn}</svg>
`;
}

const LANE_BAR_HEIGHT = 17;

/** Returns a lane for each server, with its versions: the drawing of the page at /straddle/, as text. */
export function serverLanes(frame: PlotFrame, lanes: readonly Lane[]): Markup {
  const { id, title, description, durationMs, time } = frame;
  const { width, height, names, bars, to } = drawLanes(lanes, [], {
    width: PLOT_WIDTH,
    durationMs,
    // The time axis of a plot may be longer than its half.
    across: { from: ACROSS.from, to: time.at(durationMs) },
    namesAbove: true,
    barHeight: LANE_BAR_HEIGHT,
    clockMs: 0,
    letterWidth: LETTER_WIDTH,
    tickText: clockText,
    tickWidth: ACROSS.to,
  });
  const ticks = time.ticks.filter((tick) => tick <= durationMs);
  return markup`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>
<g class="lane-names">${names.map(({ x, y, text }) => markup`<text x="${x}" y="${y}">${text}</text>`)}</g>
${bars.map((bar) => markup`<g class="lane ${bar.kind}"><title>${bar.title}</title><rect x="${bar.x}" y="${bar.y}" width="${bar.width}" height="${bar.height}"/>${bar.label === '' ? undefined : markup`<text x="${bar.labelX}" y="${bar.y + bar.height / 2 + 4}">${bar.label}</text>`}</g>`)}
<g class="times">${ticks.map((tick) => markup`<text x="${time.at(tick)}" y="${to + 15}">${clockText(tick)}</text>`)}</g></svg>
`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

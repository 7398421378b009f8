import { type Markup, markup } from '../../../base/markup.js';
import type { Lane, LaneSpan } from '../../../drawing/lane-drawing.js';
import { countScale, logScale, timeScale } from '../../../drawing/scales.js';
import type { HalfResult, RehearsalStep } from '../rehearsal-result.js';
import { type Bin, binSeconds, binsOf } from './bins.js';
import { ACROSS, barPlot, latencyPlot, type PlotFrame, serverLanes, stepRibbon, UPWARDS } from './plots.js';
import { clockText, durationText, halfName, isQuiet, millisecondsText, plural } from './words.js';

const BARS: readonly {
  readonly title: string;
  readonly noun: string;
  readonly tint: string;
  readonly value: (bin: Bin) => number;
}[] = [
  { title: 'Wrong 404s', noun: 'wrong 404', tint: 'harm', value: ({ wrong404s }) => wrong404s },
  { title: '503s', noun: '503', tint: 'notice', value: ({ unavailable503s }) => unavailable503s },
  { title: 'Discovery flaps', noun: 'flap', tint: 'flap', value: ({ discoveryFlaps }) => discoveryFlaps },
];

/** Lowest value of the logarithmic scale; smaller latencies are noise of the clock. */
const LATENCY_MS_MIN = 0.1;

interface Timeline {
  readonly half: HalfResult;
  readonly bins: readonly Bin[];
  readonly frame: Omit<PlotFrame, 'id' | 'title' | 'description'>;
}

/** Returns the plots of all halves, row by row; each row has one scale. */
export function timelineSection(halves: readonly HalfResult[], versions: Versions): Markup {
  const size = binSeconds(Math.max(1, ...halves.map(({ seconds }) => seconds.length)));
  const time = timeScale(Math.max(...halves.map(({ durationMs }) => durationMs)), ACROSS);
  const timelines = halves.map((half) => ({
    half,
    bins: binsOf(half.seconds, size),
    frame: { steps: half.steps, durationMs: half.durationMs, time },
  }));
  const unit = size === 1 ? 'second' : durationText(size * 1_000);
  return markup`<section aria-labelledby="timeline"><h2 id="timeline">Second by second</h2>
<p class="lead">${halves.length > 1 ? 'Left and right have the same scales. ' : ''}Shaded: a server is being replaced; the numbers are those of the steps.</p>
<div class="plots columns-${halves.length}">
${timelines.map(({ half }) => markup`<h3 class="half">${sentenceCase(halfName(half.proxy))}</h3>`)}
${timelines.map(ribbon)}
${timelines.map((timeline, index) => laneFigure(timeline, versions, index))}
${BARS.map((bar) => barRow(bar, timelines, unit))}
${latencyRow(timelines, unit)}
</div>
${stepLabels(halves)}</section>
`;
}

function ribbon({ half, frame }: Timeline, index: number): Markup {
  const names = half.steps.flatMap((step, at) => (isQuiet(step) ? [] : `${at + 1} ${step.name}`));
  return markup`<div>${stepRibbon({ ...frame, id: `steps-${index}`, title: `Steps, ${halfName(half.proxy)}`, description: names.join('; ') })}</div>`;
}

interface Versions {
  /** The version that all servers begin and end with. */
  readonly from: string;
  readonly to: string;
}

function laneFigure({ half, frame }: Timeline, { from }: Versions, index: number): Markup | undefined {
  const lanes = lanesOf(half, from);
  if (lanes.length === 0) return undefined;
  const title = `Versions of the servers, ${halfName(half.proxy)}`;
  const description = `Replaced: ${half.steps.flatMap(({ replaces, name }) => (replaces ? name : [])).join('; ')}.`;
  return markup`<figure><figcaption data-half="${halfName(half.proxy)}"><b>Servers</b> and their versions</figcaption>${serverLanes({ ...frame, id: `lanes-${index}`, title, description }, lanes)}</figure>
`;
}

/** Returns the versions of each server that a step replaced, in the order of the names. */
export function lanesOf({ steps, durationMs }: HalfResult, from: string): Lane[] {
  const replaced = steps.flatMap((step) => (step.replaces === undefined ? [] : [{ ...step, replaces: step.replaces }]));
  const names = [...new Set(replaced.map(({ replaces }) => replaces.server))].sort();
  return names.map((name) => {
    const spans: LaneSpan[] = [];
    let [sinceMs, version] = [0, from];
    const runs = (untilMs: number) => {
      const title = `${name}: ${version}, ${clockText(sinceMs)}–${clockText(untilMs)}`;
      spans.push({ fromMs: sinceMs, toMs: untilMs, kind: version === from ? 'old' : 'new', label: version, title });
    };
    for (const { beginMs, endMs, replaces, name: step } of replaced.filter((each) => each.replaces.server === name)) {
      runs(beginMs);
      const title = `${step}, ${clockText(beginMs)}–${clockText(endMs)}`;
      spans.push({ fromMs: beginMs, toMs: endMs, kind: 'changing', label: '', title });
      [sinceMs, version] = [endMs, replaces.version];
    }
    runs(durationMs);
    return { name, spans };
  });
}

/** The names of the numbers above the plots, which are too narrow for them. */
function stepLabels(halves: readonly HalfResult[]): Markup | undefined {
  const longest = halves.reduce<readonly RehearsalStep[]>(
    (most, { steps }) => (steps.length > most.length ? steps : most),
    [],
  );
  if (longest.every(isQuiet)) return undefined;
  return markup`<ul class="step-labels" aria-label="Steps by number">${longest.flatMap((step, index) => (isQuiet(step) ? [] : [markup`<li><b>${index + 1}</b> ${step.name}</li>`]))}</ul>`;
}

function barRow(
  { title, noun, tint, value }: (typeof BARS)[number],
  timelines: readonly Timeline[],
  unit: string,
): Markup[] {
  const scale = countScale(Math.max(0, ...timelines.flatMap(({ bins }) => bins.map(value))), UPWARDS);
  return timelines.map(({ half, bins, frame }, index) => {
    const total = bins.reduce((sum, bin) => sum + value(bin), 0);
    const highest = bins.reduce<Bin | undefined>(
      (best, bin) => (best && value(best) >= value(bin) ? best : bin),
      undefined,
    );
    const description =
      total === 0 || highest === undefined
        ? 'None.'
        : `${plural(total, noun)} in all; most at ${clockText(highest.beginMs)}: ${value(highest)}.`;
    const id = `${tint}-${index}`;
    const plot = { ...frame, bins, value, noun, scale, tint, id, description };
    return markup`<figure><figcaption data-half="${halfName(half.proxy)}"><b>${title}</b> per ${unit}</figcaption>${barPlot({ ...plot, title: `${title} per ${unit}, ${halfName(half.proxy)}` })}</figure>
`;
  });
}

function latencyRow(timelines: readonly Timeline[], unit: string): Markup[] {
  const all = timelines.flatMap(({ bins }) => bins.flatMap(({ p50Ms, p99Ms }) => [p50Ms ?? [], p99Ms ?? []].flat()));
  const known = all.filter((ms) => ms > LATENCY_MS_MIN);
  if (known.length === 0) return [];
  const scale = logScale(Math.min(...known), Math.max(...known), UPWARDS);
  return timelines.map(({ half, bins, frame }, index) => {
    const { p50Ms, p99Ms } = half.findings.latency;
    const description = `Median ${millisecondsText(p50Ms)} ms and 99th percentile ${millisecondsText(p99Ms)} ms over the whole half.`;
    const title = `Latency per ${unit}, logarithmic, ${halfName(half.proxy)}`;
    return markup`<figure><figcaption data-half="${halfName(half.proxy)}"><b>Latency</b> per ${unit}, log scale <span class="key"><svg viewBox="0 0 24 8" aria-hidden="true"><path class="p50" d="M1 4H23"/></svg> median</span> <span class="key"><svg viewBox="0 0 24 8" aria-hidden="true"><path class="p99" d="M1 4H23"/></svg> 99th percentile</span></figcaption>${latencyPlot({ ...frame, bins, scale, id: `latency-${index}`, title, description })}</figure>
`;
  });
}

export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

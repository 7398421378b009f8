import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type DrawnMark, drawLanes, type LaneDrawing } from '../../src/drawing/lane-drawing.js';
import type { Timeline, TimelineEvent } from '../../src/proxy/page/page-state.js';
import { useServerMs } from '../live/clock.js';
import { rootFontPx } from '../parts/font-size.js';
import { ScrollBox } from '../parts/scroll-box.js';
import { Section } from '../parts/section.js';
import { clockText, durationText, momentText, plural } from '../words.js';
import { EVENT_WORDS, lanesOf, marksOf, rangeOf } from './timeline-input.js';

const MINUTE_MS = 60_000;
const RANGES: readonly { readonly word: string; readonly ms: number | undefined }[] = [
  { word: '15 min', ms: 15 * MINUTE_MS },
  { word: '1 h', ms: 60 * MINUTE_MS },
  { word: '6 h', ms: 360 * MINUTE_MS },
  { word: 'All', ms: undefined },
];
/** In units of the font of the page, like all sizes of the drawing. */
const NARROW_REM = 37;
const NAME_WIDTH_REM = 10;
const LETTER_REM = 0.47;
const TICK_REM = 5.6;
const BAR_REM = 1.35;
const LOW_BAR_REM = 0.9;
/** More lanes than this are drawn lower. */
const LANES_HIGH_MAX = 16;
const EVENTS_LISTED_MAX = 200;

export function TimelineView({ timeline }: { readonly timeline: Timeline }) {
  const [lastMs, setLastMs] = useState<number | undefined>(60 * MINUTE_MS);
  const prevented = timeline.events.filter(({ kind }) => kind === 'prevented-404').length;
  const { longestGap } = timeline;
  const lead = [
    longestGap === null ? 'no server was away' : `longest gap: ${longestGap.server}, ${durationText(longestGap.ms)}`,
    ...(prevented > 0 ? [`${plural(prevented, 'event')} of prevented 404s`] : []),
  ].join(' · ');
  return (
    <Section id="timeline" title="Timeline" lead={lead}>
      <div class="filters">
        <fieldset class="choices">
          <legend class="hidden">Time to show</legend>
          {RANGES.map(({ word, ms }) => (
            <label key={word} class={ms === lastMs ? 'chosen' : ''}>
              <input type="radio" name="timeline-range" checked={ms === lastMs} onChange={() => setLastMs(ms)} />
              {word}
            </label>
          ))}
        </fieldset>
      </div>
      <Lanes timeline={timeline} lastMs={lastMs} />
      <Events events={timeline.events} />
    </Section>
  );
}

function Lanes({ timeline, lastMs }: { readonly timeline: Timeline; readonly lastMs: number | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  const now = useServerMs();
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(Math.max(240, Math.floor(box.current!.clientWidth))));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const { fromMs, toMs } = rangeOf(timeline, now, lastMs);
  // The drawing moves on by whole pixels: for an hour that is one in some seconds.
  const pixelMs = Math.max(1_000, (toMs - fromMs) / width);
  const shownMs = Math.ceil(now / pixelMs) * pixelMs;
  const drawn = useMemo(
    () => <LaneSvg drawing={drawingOf(timeline, shownMs, lastMs, width)} />,
    [timeline, shownMs, lastMs, width],
  );
  return (
    <div class="lanes" ref={box}>
      {drawn}
      <ul class="legend" aria-label="Signs of the timeline">
        {(Object.keys(EVENT_WORDS) as TimelineEvent['kind'][]).map((kind) => (
          <li key={kind}>
            <svg class="mark-key" viewBox="-8 -8 16 16" aria-hidden="true">
              <MarkShape kind={kind} />
            </svg>{' '}
            {EVENT_WORDS[kind]}
          </li>
        ))}
      </ul>
    </div>
  );
}

function drawingOf(timeline: Timeline, nowMs: number, lastMs: number | undefined, width: number): LaneDrawing {
  const range = rangeOf(timeline, nowMs, lastMs);
  const rem = rootFontPx();
  const isNarrow = width < NARROW_REM * rem;
  return drawLanes(lanesOf(timeline, range), marksOf(timeline, range), {
    width,
    durationMs: range.toMs - range.fromMs,
    across: { from: isNarrow ? 6 : NAME_WIDTH_REM * rem, to: width - rem },
    namesAbove: isNarrow,
    barHeight: Math.round((timeline.lanes.length > LANES_HIGH_MAX ? LOW_BAR_REM : BAR_REM) * rem),
    clockMs: range.fromMs - new Date(range.fromMs).getTimezoneOffset() * MINUTE_MS,
    letterWidth: LETTER_REM * rem,
    tickText: (ms) => clockText(range.fromMs + ms).slice(0, range.toMs - range.fromMs > 5 * MINUTE_MS ? 5 : 8),
    tickWidth: TICK_REM * rem,
  });
}

function LaneSvg({ drawing }: { readonly drawing: LaneDrawing }) {
  const { width, height, from, to, names, bars, marks, ticks } = drawing;
  return (
    <svg
      class="lane-drawing"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`A lane for each of ${plural(names.length, 'server')}; the events are in the list below`}
    >
      {ticks.map(({ x, text }) => (
        <g key={`t${text}`} class="tick">
          <line x1={x} x2={x} y1={from} y2={to} />
          <text x={x} y={height - 6}>
            {text}
          </text>
        </g>
      ))}
      {names.map(({ x, y, text, title }) => (
        <text key={`n${title}`} class={x < 20 ? 'lane-name above' : 'lane-name'} x={x} y={y}>
          {text}
          <title>{title}</title>
        </text>
      ))}
      {bars.map((bar, index) => (
        // Places move with time: an element of its own for each place would cost more.
        <g key={`b${index}`} class={`bar ${bar.kind}`}>
          <title>{bar.title}</title>
          <rect x={bar.x} y={bar.y} width={bar.width} height={bar.height} rx="2" />
          {bar.label !== '' && (
            <text x={bar.labelX} y={bar.y + bar.height / 2 + 4}>
              {bar.label}
            </text>
          )}
        </g>
      ))}
      {marks.map((mark, index) => (
        <Mark key={`m${index}`} mark={mark} />
      ))}
    </svg>
  );
}

function Mark({ mark: { x, y, kind, count, title } }: { readonly mark: DrawnMark }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <title>{title}</title>
      <MarkShape kind={kind} />
      {count > 1 && (
        <text class="mark-count" x="7" y="-4">
          {count}
        </text>
      )}
    </g>
  );
}

/** A shape for each kind of event, so that colour is not needed. */
const MARK_PATHS: Readonly<Record<string, string>> = {
  left: 'M5 -5L-4 0L5 5Z',
  came: 'M-5 -5L4 0L-5 5Z',
  version: 'M0 -6L6 0L0 6L-6 0Z',
  'api-appeared': 'M-1.6 -6H1.6V-1.6H6V1.6H1.6V6H-1.6V1.6H-6V-1.6H-1.6Z',
  'api-gone': 'M-6 -1.8H6V1.8H-6Z',
  'prevented-404': 'M0 -6C2 -4.5 4 -4 5.5 -4C5.5 1 4 4.5 0 6.5C-4 4.5 -5.5 1 -5.5 -4C-4 -4 -2 -4.5 0 -6Z',
  passthrough: 'M-5 -5H5V5H-5Z',
};

function MarkShape({ kind }: { readonly kind: string }) {
  return <path class={`mark ${kind}`} d={MARK_PATHS[kind] ?? MARK_PATHS['passthrough']} />;
}

function Events({ events }: { readonly events: readonly TimelineEvent[] }) {
  if (events.length === 0) return <p class="empty">No event yet.</p>;
  const newest = [...events].sort((left, right) => right.atMs - left.atMs).slice(0, EVENTS_LISTED_MAX);
  return (
    <details class="events">
      <summary>{plural(events.length, 'event')}</summary>
      <ScrollBox label="Events, newest first">
        <ol>
          {newest.map((event, index) => (
            <li key={`${event.atMs} ${event.kind} ${event.server} ${index}`}>
              <time dateTime={momentText(event.atMs)} title={momentText(event.atMs)}>
                {clockText(event.atMs)}
              </time>{' '}
              <svg class="mark-key" viewBox="-8 -8 16 16" aria-hidden="true">
                <MarkShape kind={event.kind} />
              </svg>{' '}
              <span>
                {EVENT_WORDS[event.kind] ?? event.kind}
                {event.server !== null && <span class="quiet"> {event.server}</span>}: {event.text}
              </span>
            </li>
          ))}
        </ol>
      </ScrollBox>
    </details>
  );
}

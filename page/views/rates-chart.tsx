import { useContext, useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Flow } from '../../src/proxy/page/page-state.js';
import { ClockOffset } from '../live/clock.js';
import { rootFontPx } from '../parts/font-size.js';
import { onColoursChange } from '../theme.js';
import { clockText, countText } from '../words.js';
import { CHART_SECONDS, chartColumns, RATES } from './flow-rows.js';

const HEIGHT_REM = 11.3;
const FONT_REM = 0.8;
/** Least top of the axis, so that a single event is not a full height. */
const TOP_MIN = 4;

/** Rates by the second. The colours are those of the style sheet, read anew when they change. */
export function RatesChart({ flow }: { readonly flow: Flow }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const offset = useContext(ClockOffset);
  const latest = useRef({ flow, offset });
  latest.current = { flow, offset };

  useEffect(() => {
    const element = box.current!;
    const columns = () =>
      chartColumns(
        latest.current.flow.seconds,
        performance.now() + latest.current.offset,
      ) as unknown as uPlot.AlignedData;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(element), columns(), element);
    };
    make();
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_REM * rootFontPx() }),
    );
    observer.observe(element);
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') plot.current?.setData(columns());
    }, 1_000);
    const stopColours = onColoursChange(make);
    return () => {
      stopColours();
      clearInterval(timer);
      observer.disconnect();
      plot.current?.destroy();
    };
  }, []);

  return (
    <figure class="chart" aria-label={describe(flow)} role="img">
      <div ref={box} class="chart-box" aria-hidden="true" />
    </figure>
  );
}

function describe({ seconds }: Flow): string {
  const sums = RATES.map(
    ({ key, label }) => `${label} ${countText(seconds.reduce((sum, each) => sum + each[key], 0))}`,
  );
  return `Chart of the last ${CHART_SECONDS / 60} minutes, counts by the second. In all: ${sums.join(', ')}.`;
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const rem = rootFontPx();
  const style = getComputedStyle(element);
  const colours = RATES.map((_, index) => {
    const key = document.querySelector(`[data-series="${index}"]`);
    return key === null ? style.color : getComputedStyle(key).color;
  });
  const line = getComputedStyle(element).borderTopColor;
  const axis: uPlot.Axis = {
    stroke: style.color,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: `${FONT_REM * rem}px ${style.fontFamily}`,
  };
  return {
    width: Math.max(100, element.clientWidth),
    height: HEIGHT_REM * rem,
    legend: { show: false },
    padding: [8, 28, 0, 0],
    cursor: { drag: { x: false, y: false } },
    scales: { y: { range: (_, __, highest) => [0, Math.max(TOP_MIN, highest ?? 0)] } },
    axes: [
      { ...axis, size: 1.9 * rem, space: 6 * rem, values: (_, times) => times.map((time) => clockText(time * 1_000)) },
      {
        ...axis,
        size: 3 * rem,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000],
        values: (_, counts) => counts.map((count) => countText(count)),
      },
    ],
    series: [
      {},
      ...RATES.map(({ label, dash }, index) => ({
        label,
        stroke: colours[index]!,
        width: 1.75,
        dash: [...dash],
        points: { show: false },
      })),
    ],
  };
}

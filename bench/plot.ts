import type { Bar, CaseResult, Row } from './bench-case.js';

const WIDTH = 960;
const MARGIN = 24;
const LABEL_WIDTH = 300;
const FIGURE_WIDTH = 190;
const LINE = 22;
const PANEL_GAP = 18;
const TITLE = 24;

const COLOURS = {
  straddle: '#2563eb',
  other: '#94a3b8',
  holds: '#15803d',
  fails: '#b91c1c',
  text: '#0f172a',
  dim: '#475569',
};

interface Panel {
  readonly svg: string;
  readonly height: number;
}

/** One picture of a run: each promise with how it came out, then a panel for every figure that contestants share. */
export function plot({ rows, bars }: CaseResult): string {
  const panels = [promises(bars), ...figurePanels(rows)].filter(({ height }) => height > 0);
  let y = MARGIN;
  const placed = panels.map(({ svg, height }) => {
    const group = `<g transform="translate(${MARGIN},${y})">${svg}</g>`;
    y += height + PANEL_GAP;
    return group;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="13">`,
    '<title>What npm run bench has measured</title>',
    `<rect width="${WIDTH}" height="${y}" fill="#ffffff"/>`,
    ...placed,
    '</svg>',
    '',
  ].join('\n');
}

function promises(bars: readonly Bar[]): Panel {
  if (bars.length === 0) return { svg: '', height: 0 };
  const lines = bars.map(({ name, ratio, bar, holds, low, high, notMeasurable }, i) => {
    const verdict = notMeasurable ? 'not measurable' : holds ? 'holds' : 'fails';
    const colour = holds ? COLOURS.holds : COLOURS.fails;
    const interval = low === undefined || high === undefined ? '' : `${figure(low)}–${figure(high)}, `;
    const y = TITLE + i * LINE + 15;
    return [
      text(0, y, verdict, { fill: colour, weight: 600 }),
      text(130, y, name, {}),
      text(WIDTH - 2 * MARGIN, y, `${figure(ratio)} (${interval}bar ${figure(bar)})`, { anchor: 'end', fill: colour }),
    ].join('');
  });
  return { svg: title('What was promised') + lines.join('\n'), height: TITLE + bars.length * LINE };
}

function figurePanels(rows: readonly Row[]): Panel[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = `${row.case} · ${row.metric}, ${row.unit}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].filter(([, group]) => group.length > 1).map(([name, group]) => figurePanel(name, group));
}

/** A bar from nought to the median for each contestant, and a line from the least to the most of the rounds. */
function figurePanel(name: string, rows: readonly Row[]): Panel {
  const room = WIDTH - 2 * MARGIN - LABEL_WIDTH - FIGURE_WIDTH;
  const most = Math.max(...rows.map(({ max }) => max), Number.MIN_VALUE);
  const x = (value: number): number => LABEL_WIDTH + (Math.max(value, 0) / most) * room;
  const lines = rows.map(({ contestant, median, min, max }, i) => {
    const y = TITLE + i * LINE;
    const colour = /straddle/i.test(contestant) ? COLOURS.straddle : COLOURS.other;
    return [
      text(LABEL_WIDTH - 8, y + 15, contestant, { anchor: 'end' }),
      `<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${round(x(median) - LABEL_WIDTH)}" height="${LINE - 6}" fill="${colour}"/>`,
      `<path d="M${round(x(min))} ${y + LINE / 2}H${round(x(max))}" stroke="${COLOURS.text}" stroke-width="1.5"/>`,
      text(WIDTH - 2 * MARGIN, y + 15, `${figure(median)} (${figure(min)}–${figure(max)})`, {
        anchor: 'end',
        fill: COLOURS.dim,
      }),
    ].join('');
  });
  return { svg: title(name) + lines.join('\n'), height: TITLE + rows.length * LINE };
}

const title = (name: string): string => text(0, 14, name, { weight: 600 });

interface TextStyle {
  readonly anchor?: 'start' | 'end';
  readonly fill?: string;
  readonly weight?: number;
}

function text(
  x: number,
  y: number,
  content: string,
  { anchor = 'start', fill = COLOURS.text, weight = 400 }: TextStyle,
): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${fill}" font-weight="${weight}">${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function figure(value: number): string {
  const size = Math.abs(value);
  return size >= 100 || size === 0 ? value.toFixed(0) : value.toPrecision(3);
}

const round = (value: number): number => Math.round(value * 10) / 10;

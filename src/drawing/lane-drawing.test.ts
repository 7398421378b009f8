import { describe, expect, it } from 'vitest';
import { drawLanes, type Lane, type LaneFrame, type LaneMark } from './lane-drawing.js';

const FRAME: LaneFrame = {
  width: 1_000,
  durationMs: 100_000,
  across: { from: 100, to: 900 },
  namesAbove: false,
  barHeight: 20,
  clockMs: 0,
  letterWidth: 7,
  tickText: (ms) => `${ms / 1_000}`,
  tickWidth: 90,
};
const LANES: readonly Lane[] = [
  {
    name: 'cp-1',
    spans: [
      { fromMs: 0, toMs: 50_000, kind: 'ready', label: 'v1.36', title: 'old' },
      { fromMs: 50_000, toMs: 52_000, kind: 'down', label: 'down', title: 'away' },
      { fromMs: 52_000, toMs: 100_000, kind: 'ready', label: 'v1.37', title: 'new' },
    ],
  },
  { name: 'cp-2', spans: [{ fromMs: -5_000, toMs: 200_000, kind: 'ready', label: 'v1.36', title: 'all the time' }] },
];
const mark = (atMs: number, lane: string | null, kind = 'left'): LaneMark => ({
  atMs,
  lane,
  kind,
  title: `at ${atMs}`,
});

describe('lanes', () => {
  it('place bars by time, and labels only where they fit', () => {
    const { bars } = drawLanes(LANES, [], FRAME);
    expect(bars.map(({ x, width, label }) => [x, width, label])).toEqual([
      [100, 400, 'v1.36'],
      [500, 16, ''],
      [516, 384, 'v1.37'],
      [100, 800, 'v1.36'],
    ]);
    expect(new Set(bars.slice(0, 3).map(({ y }) => y)).size).toBe(1);
    expect(bars[3]!.y).toBeGreaterThan(bars[0]!.y + bars[0]!.height);
  });

  it('never draw outside of the time that is shown', () => {
    const lanes: Lane[] = [
      { name: 'a', spans: [{ fromMs: 200_000, toMs: 300_000, kind: 'ready', label: '', title: '' }] },
    ];
    expect(drawLanes(lanes, [mark(-1, 'a'), mark(100_001, 'a')], FRAME)).toMatchObject({ bars: [], marks: [] });
  });

  it('draw a moment so that it can be seen', () => {
    const lanes: Lane[] = [{ name: 'a', spans: [{ fromMs: 5, toMs: 6, kind: 'down', label: '', title: '' }] }];
    expect(drawLanes(lanes, [], FRAME).bars[0]!.width).toBeGreaterThanOrEqual(1);
  });

  it('put marks on their lane, and those of no server above all lanes', () => {
    const { marks, bars } = drawLanes(
      LANES,
      [mark(10_000, 'cp-2'), mark(10_000, null), mark(10_000, 'unknown')],
      FRAME,
    );
    expect(marks.map(({ y, count }) => [y < bars[0]!.y, count])).toEqual([
      [true, 2],
      [false, 1],
    ]);
    expect(marks[1]!.y).toBe(bars[3]!.y + 10);
  });

  it('join marks of one kind that would cover each other, and no others', () => {
    const { marks } = drawLanes(
      LANES,
      [mark(11_000, 'cp-1'), mark(10_000, 'cp-1'), mark(10_500, 'cp-1', 'came'), mark(60_000, 'cp-1')],
      FRAME,
    );
    expect(marks.map(({ kind, count, title }) => [kind, count, title])).toEqual([
      ['left', 2, '2 events; the last: at 11000'],
      ['came', 1, 'at 10500'],
      ['left', 1, 'at 60000'],
    ]);
  });

  it('move a label behind marks that would cover it', () => {
    const { bars } = drawLanes(LANES, [mark(52_500, 'cp-1', 'came')], FRAME);
    expect(bars[2]!.labelX).toBeGreaterThan(520);
    expect(bars[0]!.labelX).toBe(107);
  });

  it('have ticks at round times of the clock', () => {
    const ticks = drawLanes(LANES, [], { ...FRAME, clockMs: 7_000 }).ticks;
    expect(ticks.map(({ text }) => (Number(text) + 7) % 15)).toEqual(ticks.map(() => 0));
  });

  it('cut long names in the middle, and keep them as title', () => {
    const name = 'kube-apiserver-of-a-very-long-name-1';
    const [drawn] = drawLanes([{ name, spans: [] }], [], FRAME).names;
    expect(drawn).toMatchObject({ title: name });
    expect(drawn!.text).toMatch(/^kube-.*….*-1$/);
    expect(drawn!.text.length).toBeLessThan(14);
  });

  it('have names above their bars where there is little room', () => {
    const { names, bars } = drawLanes(LANES, [], { ...FRAME, namesAbove: true });
    expect(names[0]!.y).toBeLessThan(bars[0]!.y);
    expect(names[0]!.x).toBe(100);
  });
});

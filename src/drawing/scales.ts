/** Maps values to positions on an axis. `ticks` are the values with a line and a label. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

const COUNT_TICKS_MAX = 4;
const TIME_TICKS_MAX = 7;
const TIME_STEPS_S = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];

/** Least top of the axis, so that a single failure is not a full-height bar. */
const COUNT_TOP_MIN = 4;

/** Whole numbers from 0; the highest tick is at the highest value or above it. */
export function countScale(highest: number, span: Span): Scale {
  const wanted = Math.max(COUNT_TOP_MIN, highest);
  const step = countStep(wanted);
  const top = Math.ceil(wanted / step) * step;
  return {
    at: (value) => place(value / top, span),
    ticks: Array.from({ length: top / step + 1 }, (_, index) => index * step),
  };
}

/** 1, 2 or 5 times a power of ten. */
function countStep(highest: number): number {
  for (let power = 1; ; power *= 10) {
    for (const factor of [1, 2, 5]) if (highest / (power * factor) <= COUNT_TICKS_MAX - 1) return power * factor;
  }
}

/** Whole decades, so that a median of 2 and a peak of 900 can both be read. */
export function logScale(lowest: number, highest: number, span: Span): Scale {
  const low = Math.floor(Math.log10(lowest));
  const high = Math.max(low + 1, Math.ceil(Math.log10(highest)));
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  const between = high - low > 2 ? [] : decades.slice(0, -1).flatMap((decade) => [2 * decade, 5 * decade]);
  return {
    at: (value) => place((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low), span),
    ticks: [...decades, ...between].sort((left, right) => left - right),
  };
}

/** `offsetMs`: what the clock shows at 0, for ticks at its round times. */
export function timeScale(durationMs: number, span: Span, ticksMax = TIME_TICKS_MAX, offsetMs = 0): Scale {
  const seconds = Math.max(1, durationMs / 1_000);
  const step = TIME_STEPS_S.find((each) => seconds / each <= ticksMax) ?? Math.ceil(seconds / ticksMax);
  const stepMs = step * 1_000;
  const firstMs = Math.ceil(offsetMs / stepMs) * stepMs - offsetMs;
  return {
    at: (ms) => place(ms / 1_000 / seconds, span),
    ticks: Array.from(
      { length: Math.floor((durationMs - firstMs) / stepMs) + 1 },
      (_, index) => firstMs + index * stepMs,
    ),
  };
}

function place(share: number, { from, to }: Span): number {
  return Math.round((from + share * (to - from)) * 10) / 10;
}

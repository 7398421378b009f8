const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const WHOLE = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/**
 * Parses a duration in the format of Go and of Kubernetes flags: `10m`, `1h30m`, `500ms`, and `0`
 * without a unit. Returns undefined for other text, also for negative durations.
 */
export function parseGoDurationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!WHOLE.test(text)) return undefined;
  let totalMs = 0;
  for (const [, number, unit] of text.matchAll(PART)) totalMs += Number(number) * UNIT_MS[unit!]!;
  return Number.isFinite(totalMs) ? totalMs : undefined;
}

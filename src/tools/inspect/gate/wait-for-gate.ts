import { failedReport, type GateReport, type GateWanted } from './gate-report.js';
import { gateLine } from './gate-text.js';

export interface WaitOptions {
  readonly wanted: GateWanted;
  /** One look; may reject. */
  look(): Promise<GateReport>;
  readonly nowMs: () => number;
  /** Resolves after that time, or when the signal is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** 0: one look, whatever it takes. */
  readonly timeoutMs: number;
  /** Called with each report whose reasons differ from those of the one before, but for the last. */
  onChange(report: GateReport): void;
}

export const LOOK_EVERY_MS = 2_000;

/** Looks until the gate is open or the time is over, and resolves with the last report. */
export async function waitForGate(options: WaitOptions): Promise<GateReport> {
  const { wanted, nowMs, pause, timeoutMs, onChange } = options;
  const endMs = nowMs() + timeoutMs;
  let before: GateReport | undefined;
  while (true) {
    const startedMs = nowMs();
    const looking = options.look().catch((error: Error) => failedReport(wanted, error.message));
    // A look is bounded by the timeouts of its requests, which may be longer than what is left.
    const report = before ? await within(looking, pause, endMs - startedMs) : await looking;
    if (!report) return before!;
    const restMs = endMs - nowMs();
    if (report.verdict === 'open' || restMs <= 0) return report;
    if (!before || gateLine(before) !== gateLine(report) || said(before) !== said(report)) onChange(report);
    before = report;
    await pause(Math.min(restMs, Math.max(0, startedMs + LOOK_EVERY_MS - nowMs())));
    if (nowMs() >= endMs) return report;
  }
}

async function within<T>(work: Promise<T>, pause: WaitOptions['pause'], ms: number): Promise<T | undefined> {
  const over = new AbortController();
  const late = pause(ms, over.signal).then(() => undefined);
  return await Promise.race([work, late]).finally(() => over.abort());
}

function said({ reasons }: GateReport): string {
  return JSON.stringify(reasons.map(({ id, verdict, servers, resources }) => [id, verdict, servers, resources]));
}

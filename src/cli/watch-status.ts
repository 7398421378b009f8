import { printableLine } from '../base/printable.js';
import type { StatusReport } from '../tools/inspect/status-report.js';
import { statusText } from '../tools/inspect/status-text.js';
import { type Output, printed } from './inspect-options.js';
import type { pause } from './pause.js';
import { stdoutColors } from './stream-look.js';
import { type Surroundings, stopSignal } from './surroundings.js';
import { WatchScreen } from './watch-screen.js';

export interface StatusWatch {
  /** One look; may reject. */
  readonly look: () => Promise<StatusReport>;
  readonly output: Output;
  readonly everyMs: number;
  readonly pause: typeof pause;
}

/** Where the rounds are shown. */
interface Display {
  show(report: StatusReport): void;
  /** Called with the message of a round that failed. */
  fail(message: string): void;
  end(): void;
}

/** Pause after a round that took longer than the interval. */
const PAUSE_MS_MIN = 200;

/** Looks again and again until the first stop signal; never two looks at once. A look that fails does not end it. */
export async function watchStatus(watch: StatusWatch, surroundings: Surroundings): Promise<void> {
  const { nowMs, stdoutIsTerminal, environment } = surroundings;
  const isTable = watch.output === 'table' || watch.output === 'wide';
  const canRedraw = stdoutIsTerminal === true && environment['TERM'] !== 'dumb' && isTable;
  const stop = stopSignal(surroundings, () => surroundings.exitNow(1));
  const display = canRedraw ? redrawn(watch, surroundings) : appended(watch, surroundings);
  try {
    while (!stop.signal.aborted) {
      const startedMs = nowMs();
      const looked = watch.look().then(
        (report) => () => display.show(report),
        (error: Error) => () => display.fail(printableLine(error.message)),
      );
      // The last look is not waited for.
      const tell = await Promise.race([looked, stop.first.then(() => () => {})]);
      tell();
      if (stop.signal.aborted) break;
      await watch.pause(Math.max(PAUSE_MS_MIN, startedMs + watch.everyMs - nowMs()), stop.signal);
    }
  } finally {
    stop.forget();
    display.end();
  }
}

/** The newest table in place of the one before, and, at the end, the last one after the prompt. */
function redrawn({ output, everyMs }: StatusWatch, surroundings: Surroundings): Display {
  const { nowMs, stdout } = surroundings;
  const screen = new WatchScreen(surroundings);
  const colors = stdoutColors(surroundings);
  const clock = (): string => new Date(nowMs()).toTimeString().slice(0, 8);
  let last: { readonly text: string; readonly at: string } | undefined;
  screen.open();
  return {
    show(report) {
      last = { text: printed(report, output, surroundings, statusText), at: clock() };
      screen.draw(`${colors.dim(`${last.at}, every ${everyMs / 1_000} s, Ctrl-C ends`)}\n\n${last.text}`);
    },
    fail(message) {
      const before = last ? `What follows is of ${last.at}.\n\n${last.text}` : '';
      screen.draw(`${colors.red(`${clock()}: ${message}`)}\n${before}`);
    },
    end() {
      screen.close();
      if (last) stdout(last.text);
    },
  };
}

/** A table, with its time, after each change. */
function appended({ output }: StatusWatch, surroundings: Surroundings): Display {
  const { nowMs, stdout, stderr } = surroundings;
  let shown: string | undefined;
  let failure: string | undefined;
  const head = (): string => `${shown === undefined ? '' : '\n'}${new Date(nowMs()).toISOString()}\n`;
  return {
    show(report) {
      const state = shownState(report, output);
      const isNew = state !== shown || failure !== undefined;
      failure = undefined;
      if (!isNew) return;
      if (output === 'json') stdout(`${JSON.stringify(report)}\n`);
      else stdout(`${output === 'yaml' ? '---\n' : head()}${printed(report, output, surroundings, statusText)}`);
      shown = state;
    },
    fail(message) {
      if (failure !== message) stderr(`straddle: ${message}\n`);
      failure = message;
    },
    end() {},
  };
}

/** Members that are otherwise at each look. */
const PASSING: ReadonlySet<string> = new Set([
  'uptimeSeconds',
  'ageSeconds',
  'surfaceAgeSeconds',
  'reroutes',
  'wrong404sPrevented',
  'heldBack',
]);

/** Returns what this output shows of a report, without ages and counters, for comparison. */
function shownState(report: StatusReport, output: Output): string {
  const lasting = JSON.stringify(report, (name, value: unknown) => (PASSING.has(name) ? null : value));
  if (output === 'json' || output === 'yaml') return lasting;
  return statusText(JSON.parse(lasting) as StatusReport, output === 'wide');
}

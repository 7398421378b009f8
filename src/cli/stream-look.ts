import { type Colors, terminalColors } from '../base/terminal-colors.js';
import type { TextLook } from '../tools/inspect/text-look.js';
import type { Surroundings } from './surroundings.js';

type Streams = Pick<Surroundings, 'stdoutIsTerminal' | 'stderrIsTerminal' | 'screenSize' | 'environment'>;

/** Narrower screens break lines themselves. */
const COLUMNS_MIN = 40;
/** Longer lines are hard to read. */
const COLUMNS_MAX = 160;

/** Returns how a report is printed on standard output. */
export function stdoutLook(streams: Streams): TextLook {
  const columns = streams.stdoutIsTerminal ? streams.screenSize?.()?.columns : undefined;
  return {
    colors: stdoutColors(streams),
    width: columns ? Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, columns)) : undefined,
  };
}

export function stdoutColors({ stdoutIsTerminal, environment }: Streams): Colors {
  return terminalColors({ isTerminal: stdoutIsTerminal === true, environment });
}

export function stderrColors({ stderrIsTerminal, environment }: Streams): Colors {
  return terminalColors({ isTerminal: stderrIsTerminal, environment });
}

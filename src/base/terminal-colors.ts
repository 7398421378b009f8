import pc from 'picocolors';

export type Colors = ReturnType<typeof pc.createColors>;

/** Changes nothing: for files, pipes and tests. */
export const NO_COLORS: Colors = pc.createColors(false);

export interface ColorWishes {
  /** Whether the stream that is written to is a terminal. */
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the colors for one stream: on a terminal unless TERM is `dumb`, elsewhere only if FORCE_COLOR asks for them
 * (`FORCE_COLOR=0`: nowhere). NO_COLOR, if it is not empty, comes first.
 */
export function terminalColors(wishes: ColorWishes): Colors {
  return pc.createColors(hasColor(wishes));
}

function hasColor({ isTerminal, environment }: ColorWishes): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTerminal && TERM !== 'dumb';
}

/** The meaning of a color. It only repeats what the text says. */
export type Tone = 'good' | 'doubt' | 'harm' | 'quiet' | 'head' | 'plain';

export function inTone(tone: Tone, text: string, colors: Colors): string {
  switch (tone) {
    case 'good':
      return colors.green(text);
    case 'doubt':
      return colors.yellow(text);
    case 'harm':
      return colors.red(text);
    case 'quiet':
      return colors.dim(text);
    case 'head':
      return colors.bold(text);
    case 'plain':
      return text;
  }
}

import type { Surroundings } from './surroundings.js';

const SIZE_DEFAULT = { columns: 80, rows: 24 };
/** Alternate screen, no cursor, no line wrap. */
const OPEN = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const CLOSE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_REST_OF_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/** A page of a terminal that is drawn again and again; what was there before comes back at the end. */
export class WatchScreen {
  readonly #surroundings: Pick<Surroundings, 'stdout' | 'screenSize'>;

  constructor(surroundings: Pick<Surroundings, 'stdout' | 'screenSize'>) {
    this.#surroundings = surroundings;
  }

  open(): void {
    this.#surroundings.stdout(OPEN);
  }

  /** Draws as many lines as the terminal has now. */
  draw(text: string): void {
    const { stdout, screenSize } = this.#surroundings;
    const { rows } = screenSize?.() ?? SIZE_DEFAULT;
    const lines = text.trimEnd().split('\n');
    const left = lines.length - rows;
    const shown =
      left > 0 ? [...lines.slice(0, rows - 1), `… ${left + 1} more lines: the terminal has ${rows}`] : lines;
    stdout(`${HOME}${shown.map((line) => `${line}${CLEAR_REST_OF_LINE}`).join('\r\n')}${CLEAR_BELOW}`);
  }

  close(): void {
    this.#surroundings.stdout(CLOSE);
  }
}

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Pages of /metrics of several Straddles, read at regular times of a real run, as the series of Prometheus. */
export interface Recording {
  /** What happened, for people. */
  readonly about: string;
  /** Milliseconds between two pages, at least. */
  readonly everyMs: number;
  /** One value for each time; null where there was none. `up` is whether the page could be read. */
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

export function recordingFile(name: string): string {
  return fileURLToPath(new URL(`recorded/${name}.recorded.json`, import.meta.url));
}

export function readRecording(name: string): Recording {
  return JSON.parse(readFileSync(recordingFile(name), 'utf8')) as Recording;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm;
/** Values are Unix times. */
const IS_TIME = /(_expiry|_start_time|_since)_seconds$/;

/** Collects pages into series. */
export class Recorder {
  readonly #names: ReadonlySet<string>;
  readonly #everyMs: number;
  readonly #beganMs = Date.now();
  readonly #series = new Map<string, (number | null)[]>();
  #count = 0;

  /** Keeps the series with these names; a page has hundreds of others. */
  constructor(names: ReadonlySet<string>, everyMs: number) {
    this.#names = names;
    this.#everyMs = everyMs;
  }

  /** Adds what was read at one time: a page for each instance, undefined for one that could not be read. */
  add(pages: ReadonlyMap<string, string | undefined>): void {
    for (const [instance, page] of pages) {
      this.#set('up', '', instance, page === undefined ? 0 : 1);
      for (const [, name, labels = '', value] of (page ?? '').matchAll(LINE)) {
        if (this.#names.has(name!)) this.#set(name!, labels, instance, this.#value(name!, Number(value)));
      }
    }
    this.#count += 1;
  }

  recording(about: string): Recording {
    const filled = [...this.#series].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      about,
      everyMs: this.#everyMs,
      series: Object.fromEntries(filled.map(([key, all]) => [key, this.#padded(all)])),
    };
  }

  /** Times are counted from the begin of the recording, where promtool's clock begins. */
  #value(name: string, value: number): number {
    return IS_TIME.test(name) ? Math.round(value - this.#beganMs / 1_000) : value;
  }

  #set(name: string, labels: string, instance: string, value: number): void {
    const key = `${name}{${labels === '' ? '' : `${labels},`}job="straddle",instance="${instance}"}`;
    const values = this.#padded(this.#series.get(key) ?? []);
    values.push(value);
    this.#series.set(key, values);
  }

  #padded(values: readonly (number | null)[]): (number | null)[] {
    return [...values, ...new Array<null>(Math.max(0, this.#count - values.length)).fill(null)];
  }
}

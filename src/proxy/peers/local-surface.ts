import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Surface } from '../../kube/surface.js';
import type { SurfaceReader } from './surface-reader.js';

export interface LocalSurfaceOptions {
  readonly reader: SurfaceReader;
  readonly readEveryMs: number;
  /** A server that starts or stops shows only part of its discovery, so it is read only while it takes requests. */
  readonly hostReady: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onReadFailed?: () => void;
}

/** A local surface as those see it who do not read it themselves. */
export type KnownSurface = Pick<
  LocalSurface,
  'surface' | 'confirmedAtMs' | 'onChange' | 'start' | 'readAnew' | 'refresh' | 'close'
>;

/** What the server behind this process serves, read again every few seconds and kept while that server is down. */
export class LocalSurface {
  readonly #options: LocalSurfaceOptions;
  readonly #listeners = new Set<() => void>();
  #surface: Surface | undefined;
  #confirmedAtMs = 0;
  #cancelNext: () => void = () => {};
  #complained = false;
  #closed = false;

  constructor(options: LocalSurfaceOptions) {
    this.#options = options;
  }

  get surface(): Surface | undefined {
    return this.#surface;
  }

  /** When the server last said that this is what it serves. */
  get confirmedAtMs(): number {
    return this.#confirmedAtMs;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads now and then every few seconds; resolves after the first reading, whatever became of it. */
  start(): Promise<void> {
    return this.#turn();
  }

  /** Reads now whatever is known: the server has just come up, perhaps as another version. Rejects if it can't be read. */
  async readAnew(): Promise<void> {
    this.#options.reader.reconnected();
    this.#take((await this.#options.reader.read()).surface);
  }

  /** Reads now because an answer did not fit. Never rejects. */
  async refresh(): Promise<void> {
    if (this.#options.hostReady()) await this.#read();
  }

  close(): void {
    this.#closed = true;
    this.#cancelNext();
  }

  async #turn(): Promise<void> {
    this.#cancelNext();
    if (this.#closed) return;
    if (this.#options.hostReady()) await this.#read();
    if (this.#closed) return;
    this.#cancelNext();
    this.#cancelNext = this.#options.clock.after(this.#options.readEveryMs, () => void this.#turn());
  }

  async #read(): Promise<void> {
    const { reader, logger, hostReady } = this.#options;
    try {
      const { surface } = await reader.read();
      // It went down while it was being read: what it said may be half.
      if (!hostReady()) return;
      this.#take(surface);
    } catch (error) {
      if (this.#closed) return;
      this.#options.onReadFailed?.();
      if (!this.#complained)
        logger.warn("the local server's discovery could not be read; the last one stands", { error });
      this.#complained = true;
    }
  }

  #take(surface: Surface): void {
    this.#confirmedAtMs = this.#options.clock.nowMs();
    this.#complained = false;
    if (surface === this.#surface) return;
    this.#surface = surface;
    for (const listener of this.#listeners) listener();
  }
}

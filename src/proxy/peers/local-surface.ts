import type { Clock } from '../../base/clock.js';
import { READ_FAILURES } from '../../base/error-types.js';
import type { Logger } from '../../base/logger.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import type { Surface } from '../../kube/surface.js';
import type { SurfaceReader } from './surface-reader.js';

export interface LocalSurfaceOptions {
  readonly reader: SurfaceReader;
  readonly readEveryMs: number;
  /** Whether the server takes requests. Otherwise its discovery is incomplete and not read. */
  readonly hostReady: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onReadFailed?: () => void;
}

/** A local surface for code that does not read it; also implemented by ReplicaSurface. */
export type KnownSurface = Pick<
  LocalSurface,
  'surface' | 'confirmedAtMs' | 'onChange' | 'start' | 'readAnew' | 'refresh' | 'close'
>;

/** The surface of the local server: read every few seconds, kept while that server is down. */
export class LocalSurface {
  readonly #options: LocalSurfaceOptions;
  readonly #listeners = new Set<() => void>();
  #surface: Surface | undefined;
  #confirmedAtMs = 0;
  readonly #reads: RepeatedTask;
  #complained = false;
  #closed = false;

  constructor(options: LocalSurfaceOptions) {
    this.#options = options;
    const { clock, readEveryMs } = options;
    this.#reads = new RepeatedTask({ clock, run: () => this.refresh(), pauseMs: () => readEveryMs });
  }

  get surface(): Surface | undefined {
    return this.#surface;
  }

  /** Time at which the server last confirmed this surface. */
  get confirmedAtMs(): number {
    return this.#confirmedAtMs;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts periodic reads; resolves after the first read, even if it failed. */
  start(): Promise<void> {
    return this.#reads.now();
  }

  /**
   * Reads now, /version included, also while `hostReady` is false: the server has just started,
   * perhaps as another version. Rejects if the read fails.
   */
  async readAnew(): Promise<void> {
    this.#options.reader.reconnected();
    this.#take(await this.#options.reader.read());
  }

  /** Reads now because a reply contradicted the surface. Never rejects. */
  async refresh(): Promise<void> {
    const { reader, logger, hostReady } = this.#options;
    if (!hostReady()) return;
    try {
      const surface = await reader.read();
      // The server went down during the read: the document may be incomplete.
      if (!hostReady()) return;
      this.#take(surface);
    } catch (error) {
      if (this.#closed) return;
      this.#options.onReadFailed?.();
      if (!this.#complained)
        logger.warn('discovery of the local API server cannot be read; the last surface stays in use', {
          error,
          advice: READ_FAILURES.local.advice,
        });
      this.#complained = true;
    }
  }

  close(): void {
    this.#closed = true;
    void this.#reads.close();
  }

  #take(surface: Surface): void {
    this.#confirmedAtMs = this.#options.clock.nowMs();
    this.#complained = false;
    if (surface === this.#surface) return;
    this.#surface = surface;
    for (const listener of this.#listeners) listener();
  }
}

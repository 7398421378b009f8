import type { Surface } from '../../kube/surface.js';

export interface ReplicaSurfaceOptions {
  /** The head has read it since the local server came up, just before this process was started. */
  readonly isFresh: boolean;
  /** Asks the head to read; resolves when it has, or after a bounded wait. */
  readonly refresh: () => Promise<void>;
  /** Asks the head to read whatever it knows; rejects if it could not. */
  readonly readAnew: () => Promise<void>;
}

/** What the local server serves, as the head has read it. */
export class ReplicaSurface {
  readonly #options: ReplicaSurfaceOptions;
  readonly #listeners = new Set<() => void>();
  #surface: Surface | undefined;
  #isFresh: boolean;

  constructor(options: ReplicaSurfaceOptions) {
    this.#options = options;
    this.#isFresh = options.isFresh;
  }

  get surface(): Surface | undefined {
    return this.#surface;
  }

  /** The head knows when, and shows it in the metrics. */
  get confirmedAtMs(): number {
    return 0;
  }

  take(surface: Surface | undefined): void {
    if (surface === this.#surface) return;
    this.#surface = surface;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {}

  /** The local server has come up, or this process has and sees it for the first time. */
  async readAnew(): Promise<void> {
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    if (!isFresh) await this.#options.readAnew();
  }

  refresh(): Promise<void> {
    return this.#options.refresh();
  }

  close(): void {}
}

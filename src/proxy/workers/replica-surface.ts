import type { Surface } from '../../kube/surface.js';

export interface ReplicaSurfaceOptions {
  /** The head has read the surface since the local server became ready, before this start. */
  readonly isFresh: boolean;
  /** Makes the head read; resolves when it has, or after a timeout. */
  readonly refresh: () => Promise<void>;
  /** Makes the head read again, /version included; rejects if the read failed. */
  readonly readAnew: () => Promise<void>;
}

/** The surface of the local server, as the head has read it. */
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

  /** Always 0: only the head knows the time, and exports it as a metric. */
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

  /** Makes the head read after a start of the local server; skipped once for a fresh view. */
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

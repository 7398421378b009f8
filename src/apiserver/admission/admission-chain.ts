import type { AdmissionPlugin, AdmissionRequest } from './admission.js';

/**
 * All plugins in order: first everyone may change the object, then everyone may refuse what came of it. Most have nothing
 * to wait for, and are not waited for.
 */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      const done = plugin.mutate?.(request);
      if (done) await done;
    }
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      const done = plugin.validate?.(request);
      if (done) await done;
    }
  }
}

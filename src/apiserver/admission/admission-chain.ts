import type { AdmissionPlugin, AdmissionRequest } from './admission.js';

/** All plugins in order: first everyone may change the object, then everyone may refuse what came of it. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) if (plugin.mutate) await plugin.mutate(request);
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) if (plugin.validate) await plugin.validate(request);
  }
}

import type { AdmissionPlugin, AdmissionRequest } from './admission.js';

/** Runs all plugins in order. Plugins without asynchronous work cost no turn of the event loop. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  mutate(request: AdmissionRequest): Promise<void> {
    return this.#run('mutate', request);
  }

  validate(request: AdmissionRequest): Promise<void> {
    return this.#run('validate', request);
  }

  async #run(phase: 'mutate' | 'validate', request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      const done = plugin[phase]?.(request);
      if (done) await done;
    }
  }
}

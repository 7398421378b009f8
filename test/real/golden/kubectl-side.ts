import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../rig/eventually.js';
import { Kubectl, type KubectlResult, type RunningKubectl } from '../rig/kubectl.js';
import { PAIR_VERSION } from './pair.js';
import { argumentsOf } from './step.js';

const MANIFESTS = fileURLToPath(new URL('./manifests/', import.meta.url));
/** What `kubectl edit` opens. */
const EDITOR = "sed -i -e 's/^  color: .*/  color: purple/' -e 's/^  replicas: .*/  replicas: 7/'";
const LINES_TIMEOUT_MS = 10_000;

export interface SideOptions {
  readonly kubeconfig: string;
  readonly context: string;
  /** Gets a folder of its own with the manifests. */
  readonly dir: string;
}

/** kubectl at one of the two servers. */
export class KubectlSide {
  readonly #kubectl: Kubectl;
  readonly #context: string;
  readonly #folder: string;

  constructor({ kubeconfig, context, dir }: SideOptions) {
    this.#kubectl = new Kubectl(kubeconfig, join(dir, context), PAIR_VERSION);
    this.#context = context;
    this.#folder = join(dir, context, 'manifests');
    cpSync(MANIFESTS, this.#folder, { recursive: true });
  }

  run(line: string, user: 'admin' | 'alice' = 'admin'): Promise<KubectlResult> {
    return this.#start(line, user).done;
  }

  watch(line: string): RunningKubectl {
    return this.#start(line, 'admin');
  }

  /** Stops a watch when it has said enough; what it has said by then counts. */
  async stopAt(watch: RunningKubectl, lines: number): Promise<KubectlResult> {
    const isEnough = (): boolean => watch.output().split('\n').length > lines;
    await eventually('the watch has said enough', isEnough, { timeoutMs: LINES_TIMEOUT_MS }).catch(() => {});
    return watch.stop();
  }

  async fill(file: string): Promise<void> {
    const path = join(this.#folder, file);
    let text = readFileSync(path, 'utf8');
    for (const [mark, what] of text.matchAll(/\{\{uid (\S+)\}\}/g)) {
      const { stdout } = await this.run(`get ${what} -n shop -o jsonpath={.metadata.uid}`);
      text = text.replaceAll(mark, stdout);
    }
    writeFileSync(path, text);
  }

  #start(line: string, user: 'admin' | 'alice'): RunningKubectl {
    return this.#kubectl.start(
      { context: this.#context, user, cwd: this.#folder, env: { KUBE_EDITOR: EDITOR } },
      ...argumentsOf(line),
    );
  }
}

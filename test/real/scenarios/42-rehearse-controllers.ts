import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kubeProgram } from '../rig/binaries.js';
import type { ControlPlane } from '../rig/control-plane.js';
import { CONTROLLER_MANAGER_VERSION, ControllerManager } from '../rig/controller-manager.js';
import type { Scenario } from '../scenario.js';
import { harmIsPrevented } from './rehearsal/harm.js';
import { rehearsalFolder, runRehearsal } from './rehearsal/run-rehearsal.js';

const ADDRESS = '127.0.0.32';
const POLL_MS = 250;
const CONTROLLERS = ['namespace-controller', 'garbage-collector-controller'];
/** A kube-controller-manager looks at discovery every 30 s: it must have done so while versions are mixed. */
const HOLD = '20s';

export const rehearsalWithControllers: Scenario = {
  number: 42,
  name: 'the same with a real kube-controller-manager behind the front door',
  timeoutMs: 1_200_000,
  programs: () => [kubeProgram('kube-controller-manager', CONTROLLER_MANAGER_VERSION)],
  async run(context) {
    const managers = new Managers(context.plane);
    context.defer(() => managers.stop());
    managers.start();
    harmIsPrevented(await runRehearsal(context, '--controllers=none', `--hold=${HOLD}`));
  },
};

/** A controller manager for each half, as long as that lasts. */
class Managers {
  private readonly folder: string;
  private readonly managers = new Map<string, ControllerManager>();
  private done: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly plane: ControlPlane) {
    this.folder = rehearsalFolder(plane);
  }

  start(): void {
    this.done = this.follow();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.done;
    await Promise.all([...this.managers.values()].map(({ process }) => process.stop()));
  }

  private async follow(): Promise<void> {
    for (; !this.stopped; await delay(POLL_MS)) {
      const halves = readdirSync(this.folder).filter((half) => existsSync(join(this.folder, half, 'kubeconfig')));
      for (const half of halves) if (!this.managers.has(half)) await this.manage(half);
      for (const [half, { process }] of this.managers) if (!halves.includes(half)) await process.stop();
    }
  }

  private async manage(half: string): Promise<void> {
    const { pki } = this.plane;
    const dir = join(this.plane.dir, `controllers-${half}`);
    mkdirSync(dir);
    const [, serverUrl] = /server: ["']?(https:[^"'\s]+)/.exec(
      readFileSync(join(this.folder, half, 'kubeconfig'), 'utf8'),
    )!;
    const manager = await ControllerManager.start({
      dir,
      pki,
      address: ADDRESS,
      serverUrl: serverUrl!,
      controllers: CONTROLLERS,
    });
    this.managers.set(half, manager);
  }
}

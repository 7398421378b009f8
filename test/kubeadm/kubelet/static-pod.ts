import { join } from 'node:path';
import { RigProcess } from '../../real/rig/process.js';
import { programOf } from './image-program.js';
import type { HttpProbe, PodManifest } from './pod-manifest.js';
import { pause, runProbe } from './run-probe.js';

export type PodState = 'image missing' | 'running' | 'back-off' | 'stopping' | 'ended';

/** What happened to a pod; the lines that the test reads. */
export interface PodEvent {
  readonly atMs: number;
  readonly pod: string;
  readonly event:
    | 'started'
    | 'ready'
    | 'not ready'
    | 'exited'
    | 'probe failed'
    | 'image missing'
    | 'stopping'
    | 'ended';
  readonly image: string;
  readonly hash: string;
  readonly restarts: number;
  readonly detail?: string;
}

const BACK_OFF_MS = 10_000;
const BACK_OFF_MS_MAX = 300_000;
/** A container that ran so long begins with the shortest back-off again. */
const STEADY_MS = 600_000;

/** One static pod on one node, from its manifest to its end, as a kubelet runs it. */
export class StaticPod {
  state: PodState = 'image missing';
  isReady = false;
  hasStarted = false;
  restarts = 0;
  startedMs = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #process: RigProcess | undefined;

  constructor(
    readonly manifest: PodManifest,
    private readonly logDir: string,
    private readonly report: (event: PodEvent) => void,
  ) {
    this.#running = this.#run();
  }

  /** Resolves when its program has ended: on SIGTERM, or on SIGKILL after the grace period. */
  async stop(): Promise<void> {
    this.state = 'stopping';
    this.#say('stopping');
    this.#stop.abort();
    await this.#process?.stop(this.manifest.graceMs);
    await this.#running;
    this.state = 'ended';
    this.#say('ended');
  }

  get #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const program = programOf(this.manifest);
    if (program === undefined) {
      this.#say('image missing');
      return;
    }
    let backOffMs = 0;
    while (!this.#isStopping) {
      await this.#runOnce(program);
      if (this.#isStopping) return;
      this.state = 'back-off';
      if (Date.now() - this.startedMs > STEADY_MS) backOffMs = 0;
      await pause(backOffMs, signal);
      backOffMs = Math.min(Math.max(BACK_OFF_MS, backOffMs * 2), BACK_OFF_MS_MAX);
      this.restarts += 1;
    }
  }

  async #runOnce([command, ...args]: readonly [string, ...string[]]): Promise<void> {
    const { name, env, startup } = this.manifest;
    const logFile = join(this.logDir, `${name}.log`);
    const process = new RigProcess({ name, command, args, env, logFile });
    this.#process = process;
    this.startedMs = Date.now();
    this.state = 'running';
    this.hasStarted = startup === undefined;
    this.#say('started');
    const probes = this.#probe(process);
    const exit = await process.exited.catch((error: Error) => ({ code: null, signal: error.message }));
    probes.abort();
    this.hasStarted = false;
    this.#setReady(false);
    if (!this.#isStopping) this.#say('exited', String(exit.signal ?? exit.code));
  }

  /** Returns how to end the probes of a process. */
  #probe(process: RigProcess): AbortController {
    const control = new AbortController();
    const { startup, liveness, readiness, graceMs } = this.manifest;
    const killed = (which: string): 'end' => {
      this.#say('probe failed', which);
      void process.stop(graceMs);
      return 'end';
    };
    const run = (probe: HttpProbe | undefined, report: (isGood: boolean) => 'go on' | 'end') => {
      if (probe !== undefined) void runProbe(probe, control.signal, report);
    };
    const afterStartup = (): void => {
      this.hasStarted = true;
      run(liveness, (isGood) => (isGood ? 'go on' : killed('liveness')));
      if (readiness === undefined) this.#setReady(true);
      run(readiness, (isGood) => {
        this.#setReady(isGood);
        return 'go on';
      });
    };
    if (startup === undefined) afterStartup();
    run(startup, (isGood) => {
      if (!isGood) return killed('startup');
      afterStartup();
      return 'end';
    });
    this.#stop.signal.addEventListener('abort', () => control.abort(), { once: true });
    return control;
  }

  #setReady(isReady: boolean): void {
    if (this.isReady === isReady) return;
    this.isReady = isReady;
    this.#say(isReady ? 'ready' : 'not ready');
  }

  #say(event: PodEvent['event'], detail?: string): void {
    const { name, image, hash } = this.manifest;
    const more = detail === undefined ? {} : { detail };
    this.report({ atMs: Date.now(), pod: name, event, image, hash, restarts: this.restarts, ...more });
  }
}

import { eventually, GiveUp } from '../../real/rig/eventually.js';
import type { RigProcess } from '../../real/rig/process.js';
import type { PodEvent } from '../kubelet/static-pod.js';

const TIMEOUT_MS = 180_000;

/** The static pods of one machine, as the events of its kubelet show them. */
export class StaticPods {
  constructor(
    private readonly machine: string,
    private readonly kubelet: RigProcess,
  ) {}

  get events(): PodEvent[] {
    const lines = this.kubelet.log().split('\n');
    lines.pop();
    return lines.flatMap((line) => (line.startsWith('{') ? (JSON.parse(line) as PodEvent) : []));
  }

  last(pod: string): PodEvent | undefined {
    return this.events.findLast((event) => event.pod === pod);
  }

  /** Waits until a pod of this image is ready, and returns that event. */
  ready(pod: string, isWanted: (event: PodEvent) => boolean = () => true): Promise<PodEvent> {
    return eventually(
      `${pod} of ${this.machine} is ready`,
      () => {
        if (!this.kubelet.running) throw new GiveUp(`${this.kubelet.name} ended:\n${this.kubelet.logTail()}`);
        const last = this.last(pod);
        if (last?.event === 'ready' && isWanted(last)) return last;
        throw new Error(`its last event is ${JSON.stringify(last)}`);
      },
      { timeoutMs: TIMEOUT_MS },
    );
  }

  /** Restarts that no manifest asked for. */
  crashes(): PodEvent[] {
    return this.events.filter(({ event }) => event === 'exited' || event === 'probe failed');
  }
}

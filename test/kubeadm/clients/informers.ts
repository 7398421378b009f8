import { performance } from 'node:perf_hooks';
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';
import type { Informer as GoInformer } from '../../real/rig/informer.js';
import type { WrittenEvent } from '../../real/scenarios/watches/job-writer.js';
import type { WriteLedger } from './write-ledger.js';

const RESTART_MS = 200;

/** An informer of @kubernetes/client-node of the ConfigMaps of a namespace, started anew after an error as its documentation says. */
export class NodeInformer {
  readonly added = new Map<string, number>();
  /** Additions that were reported for a second time, and deletions of what nobody deleted. */
  readonly wrong: string[] = [];
  restarts = 0;
  readonly arrivals: number[] = [];
  #stop: () => Promise<void> = async () => {};
  #isStopped = false;

  static async start(kubeconfig: string, namespace: string): Promise<NodeInformer> {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const api = config.makeApiClient(CoreV1Api);
    const list = () => api.listNamespacedConfigMap({ namespace });
    const informer = makeInformer<V1ConfigMap>(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
    const made = new NodeInformer();
    informer.on('add', ({ metadata }) => made.#add(metadata?.name ?? ''));
    informer.on('delete', ({ metadata }) => made.wrong.push(`deletion of ${metadata?.name}`));
    informer.on('error', () => {
      if (made.#isStopped) return;
      made.restarts += 1;
      setTimeout(() => void informer.start(), RESTART_MS);
    });
    made.#stop = () => informer.stop();
    await informer.start();
    return made;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#stop();
  }

  /** Names of acknowledged objects that it did not report. */
  missed(ledger: WriteLedger): string[] {
    return [...ledger.acknowledged.values()].filter((name) => !this.added.has(name));
  }

  #add(name: string): void {
    const atMs = performance.now();
    if (this.added.has(name)) this.wrong.push(`second addition of ${name}`);
    this.added.set(name, atMs);
    this.arrivals.push(atMs);
  }
}

/** What an informer of client-go did not get of what was written, or got twice or in another order. */
export function gapsOf(informer: Pick<GoInformer, 'of'>, written: readonly WrittenEvent[]): string[] {
  const text = ({ type, name }: { readonly type?: string; readonly name?: string }): string => `${type} ${name}`;
  const changes = informer.of('change').map(text);
  const expected = written.map(text);
  const first = expected.findIndex((each, index) => changes[index] !== each);
  const gaps: string[] = [];
  if (first >= 0) gaps.push(`change ${first} is ${changes[first] ?? 'missing'}, not ${expected[first]}`);
  if (changes.length > expected.length) gaps.push(`${changes.length - expected.length} changes more than were written`);
  return gaps;
}

/** Errors that it met; each of them is one end of a watch or a failed request. */
export function errorsOf(informer: GoInformer): string[] {
  return informer.of('error').map(({ message = '' }) => message);
}

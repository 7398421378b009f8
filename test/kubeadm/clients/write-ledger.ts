import { call, type Endpoint, type KubeObject, keepAliveAgent } from '../../real/rig/http-client.js';
import { MeasuredClient, type Phase } from './measured-client.js';

const CONNECTIONS = 4;
export const ID_LABEL = 'test/write';

/** What became of writes: by their number, which a label of each object holds. */
export interface WriteVerdict {
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
}

/**
 * Creates ConfigMaps whose names the server makes up, so that a request that is carried out twice leaves two objects. No request
 * is sent again.
 */
export class WriteLedger {
  readonly client: MeasuredClient;
  readonly #agent = keepAliveAgent(CONNECTIONS);
  /** Names of the objects by the number of the write. */
  readonly acknowledged = new Map<string, string>();

  constructor(
    private readonly endpoint: Endpoint,
    private readonly namespace: string,
    ratePerSecond: number,
  ) {
    this.client = new MeasuredClient({
      name: 'writes through HAProxy',
      ratePerSecond,
      good: [201],
      send: (index) => this.#write(String(index)),
    });
  }

  get collection(): string {
    return `/api/v1/namespaces/${this.namespace}/configmaps`;
  }

  failedIn(phase: Phase) {
    return this.client.failedIn(phase);
  }

  async stop(): Promise<void> {
    await this.client.stop();
    this.#agent.destroy();
  }

  /** Compares what was acknowledged with what is stored. */
  async verdict(): Promise<WriteVerdict> {
    const list = await call(this.endpoint, `${this.collection}?labelSelector=${encodeURIComponent(ID_LABEL)}`);
    return verdictOf(this.acknowledged, list.json()['items'] as KubeObject[]);
  }

  async #write(id: string) {
    const body = { metadata: { generateName: 'written-', labels: { [ID_LABEL]: id } }, data: { id } };
    const answer = await call(this.endpoint, this.collection, { method: 'POST', body, agent: this.#agent });
    if (answer.status === 201) this.acknowledged.set(id, answer.json().metadata?.name ?? '');
    return answer;
  }
}

/** `acknowledged`: names by the number of the write. */
export function verdictOf(acknowledged: ReadonlyMap<string, string>, objects: readonly KubeObject[]): WriteVerdict {
  const stored = new Map<string, string[]>();
  for (const { metadata } of objects) {
    const id = metadata?.labels?.[ID_LABEL] ?? '';
    stored.set(id, [...(stored.get(id) ?? []), metadata?.name ?? '']);
  }
  return {
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter(([id, name]) => !stored.get(id)?.includes(name)).map(([id]) => id),
    doubled: [...stored].filter(([, names]) => names.length > 1).map(([id]) => id),
  };
}

import assert from 'node:assert/strict';
import { type Answer, call, type Endpoint, type KubeObject, keepAliveAgent } from './http-client.js';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

const CONNECTIONS_MAX = 8;

/** Metadata that controllers read. */
export interface ControlledMetadata {
  readonly generation?: number;
  readonly finalizers?: string[];
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: { readonly uid: string }[];
}

export function metadataOf(object: KubeObject | undefined): ControlledMetadata {
  return (object?.metadata ?? {}) as ControlledMetadata;
}

/** What scenarios do with objects, over connections that are kept. Anything but the status that should come is an error. */
export class ApiClient {
  private readonly agent = keepAliveAgent(CONNECTIONS_MAX);

  constructor(private readonly endpoint: Endpoint) {}

  async create(collection: string, body: object): Promise<KubeObject> {
    return this.expect(201, 'POST', collection, await this.call('POST', collection, { body }));
  }

  async get(path: string): Promise<KubeObject> {
    return this.expect(200, 'GET', path, await this.call('GET', path));
  }

  async list(collection: string): Promise<KubeObject[]> {
    return (await this.get(collection))['items'] as KubeObject[];
  }

  async exists(path: string): Promise<boolean> {
    const answer = await this.call('GET', path);
    if (answer.status === 404) return false;
    this.expect(200, 'GET', path, answer);
    return true;
  }

  async mergePatch(path: string, body: object): Promise<KubeObject> {
    const headers = { 'content-type': 'application/merge-patch+json' };
    return this.expect(200, 'PATCH', path, await this.call('PATCH', path, { body, headers }));
  }

  /** 200 where it is gone or marked, 202 where it is on its way. */
  async remove(path: string, propagationPolicy: PropagationPolicy = 'Background'): Promise<void> {
    const answer = await this.call('DELETE', path, { body: { propagationPolicy } });
    assert.ok([200, 202].includes(answer.status), `DELETE ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  }

  /** The whole text of a page that is no object. */
  async page(path: string): Promise<string> {
    const answer = await this.call('GET', path);
    assert.equal(answer.status, 200, `GET ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.text;
  }

  close(): void {
    this.agent.destroy();
  }

  private call(
    method: string,
    path: string,
    more: { body?: object; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    return call(this.endpoint, path, { method, agent: this.agent, ...more });
  }

  private expect(status: number, method: string, path: string, answer: Answer): KubeObject {
    assert.equal(answer.status, status, `${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.json();
  }
}

import { type FakeApi, status, unknownResource } from '../../apiserver/controllers/fake-api.fixture.js';
import type { ApiAnswer, ApiRequest } from '../../kube/client/api-client.js';
import type { Api, Discovered } from './api-connection.js';

/** `away`: the proxy says that nobody can serve PodGroups now, and that they exist. */
export type Answerer = 'older' | 'newer' | 'away';

/** One store behind servers of two versions, of which only the newer one knows PodGroups; a test says who answers. */
export class MixedApi implements Api {
  readonly store: FakeApi;
  readonly asked: string[] = [];
  answerer: (target: string) => Answerer;

  constructor(store: FakeApi, answerer: Answerer | ((target: string) => Answerer)) {
    this.store = store;
    this.answerer = typeof answerer === 'string' ? () => answerer : answerer;
  }

  async request(request: ApiRequest): Promise<ApiAnswer> {
    this.asked.push(`${request.method} ${request.target.split('?')[0]}`);
    const by = this.answerer(request.target);
    if (request.target.includes('/podgroups') && by !== 'newer')
      return by === 'older' ? unknownResource() : status(503, 'ServiceUnavailable');
    return this.store.request(request);
  }

  async discover(): Promise<Discovered> {
    const { groups } = await this.store.discover();
    const isHidden = this.answerer('/apis') === 'older';
    return { status: 200, groups: groups.filter(({ metadata }) => !isHidden || metadata.name !== 'scheduling.k8s.io') };
  }
}

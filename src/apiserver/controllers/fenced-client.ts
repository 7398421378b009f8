import type { ApiClient } from '../../kube/client/api-client.js';

/** The lease that allows to change things has gone; the work stops here, and another server goes on with it. */
export class LeadershipLost extends Error {
  constructor() {
    super('this server no longer holds the lease of the controllers');
    this.name = 'LeadershipLost';
  }
}

/** Reads pass; whatever would change something is refused unless the lease is held at this very moment. */
export function fenced(client: ApiClient, isHeld: () => boolean): ApiClient {
  return {
    async request(request) {
      if (request.method !== 'GET' && !isHeld()) throw new LeadershipLost();
      return client.request(request);
    },
    watch: (request) => client.watch(request),
    discover: () => client.discover(),
  };
}

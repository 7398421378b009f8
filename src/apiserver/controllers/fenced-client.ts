import type { ApiClient } from '../../kube/client/api-client.js';

/** This server lost the lease of the controllers: its work stops, and another server continues. */
export class LeadershipLost extends Error {
  constructor() {
    super('this server no longer holds the lease of the controllers');
    this.name = 'LeadershipLost';
  }
}

/** Passes reads; rejects changes with LeadershipLost unless the lease is held at that moment. */
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

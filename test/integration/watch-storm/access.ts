/** Address of the server and credentials, for the programs of the storm. */
export interface Access {
  readonly url: string;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export const NAMESPACE = 'storm';
export const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;

/** How long to wait before a connection that broke is tried again: longer each time, and not all at once. */
export class Backoff {
  #nextMs = RETRY_MS_MIN;

  waitMs(): number {
    const waitMs = this.#nextMs * (0.5 + Math.random());
    this.#nextMs = Math.min(RETRY_MS_MAX, this.#nextMs * 2);
    return waitMs;
  }

  reset(): void {
    this.#nextMs = RETRY_MS_MIN;
  }
}

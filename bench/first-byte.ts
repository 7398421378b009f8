import { Agent, request } from 'node:https';
import { performance } from 'node:perf_hooks';
import type { Endpoint } from '../test/real/rig/http-client.js';

export interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
}

export interface Sample {
  readonly firstByteMs: number;
  readonly wholeMs: number;
  readonly bytes: number;
}

/** One kept connection to one server, asked one request at a time. */
export class Connection {
  readonly #endpoint: Endpoint;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Fails on any other status than the one expected. */
  sample({ path, headers, status }: Asked): Promise<Sample> {
    const { url, ca, clientCert } = this.#endpoint;
    return new Promise((resolve, reject) => {
      const startedMs = performance.now();
      const sent = request(
        new URL(path, url),
        { headers, ca, cert: clientCert?.certPem, key: clientCert?.keyPem, agent: this.#agent },
        (response) => {
          // The head is all there is of the first byte: nothing is sent before it.
          const firstByteMs = performance.now() - startedMs;
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
          });
          response.once('error', reject);
          response.once('end', () => {
            if (response.statusCode === status) {
              resolve({ firstByteMs, wholeMs: performance.now() - startedMs, bytes });
            } else reject(new Error(`${url}${path} answered ${response.statusCode}, not ${status}`));
          });
        },
      );
      sent.once('error', reject);
      sent.end();
    });
  }

  /** Samples until there are `countMax` or the time is over, whichever comes first. */
  async samples(asked: Asked, { countMax, forMs }: { countMax: number; forMs: number }): Promise<Sample[]> {
    const untilMs = performance.now() + forMs;
    const taken: Sample[] = [];
    while (taken.length < countMax && (taken.length === 0 || performance.now() < untilMs)) {
      taken.push(await this.sample(asked));
    }
    return taken;
  }

  close(): void {
    this.#agent.destroy();
  }
}

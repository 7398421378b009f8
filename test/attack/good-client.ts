import { request } from 'node:https';
import type { TestCertificate } from '../../src/http/tls/pki.fixture.js';
import type { Target } from './hostile-clients.js';

export interface Measured {
  readonly requests: number;
  readonly failed: readonly string[];
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface GoodClient {
  readonly method?: string;
  readonly path: () => string;
  readonly body?: () => string;
  readonly as: TestCertificate;
  readonly expected: number;
  readonly localAddress?: string;
}

const INTERVAL_MS = 20;

/** A certificate user who makes one request after the other, each on a connection of its own, for some time. */
export async function measure(target: Target, client: GoodClient, seconds: number): Promise<Measured> {
  const endAtMs = performance.now() + seconds * 1000;
  const tookMs: number[] = [];
  const failed: string[] = [];
  while (performance.now() < endAtMs) {
    const begunAtMs = performance.now();
    try {
      const status = await once(target, client);
      if (status !== client.expected) failed.push(`status ${status}`);
    } catch (error) {
      failed.push((error as Error).message);
    }
    tookMs.push(performance.now() - begunAtMs);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
  tookMs.sort((a, b) => a - b);
  const at = (part: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * part))] ?? 0;
  return { requests: tookMs.length, failed, p99Ms: at(0.99), maxMs: at(1) };
}

function once({ port, ca }: Target, { method = 'GET', path, body, as, localAddress }: GoodClient): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ host: '127.0.0.1', port, ca, cert: as.pem, key: as.keyPem, agent: false, method, path: path() },
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: { 'Content-Type': 'application/json' },
        timeout: 40_000,
      },
      (response) => {
        response.on('error', reject);
        response.resume().on('end', () => resolve(response.statusCode!));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no reply in 40 s')));
    sent.on('error', reject);
    sent.end(body?.());
  });
}

import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { DeadlineError } from '../../http/deadline.js';
import { headerValue } from '../../http/headers.js';
import { aggregated, jsonReply, listen, sendTo } from './fake-server.fixture.js';
import { SURFACE_ACCEPT, type SurfaceFetch, SurfaceReadError, SurfaceReader } from './surface-reader.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const overHttp =
  (port: number): SurfaceFetch =>
  (path, headers, onAbort) =>
    sendTo(port, 'GET', path, headers, null, onAbort);

describe('SurfaceReader with aggregated discovery', () => {
  it('requests the nopeer profile, and gets 304 while nothing changes', async () => {
    const seen: string[] = [];
    let etag = '"1"';
    const server = await listen((req, res) => {
      seen.push(`${req.url} ${req.headers['if-none-match'] ?? '-'}`);
      if (req.url === '/version') return void res.end(JSON.stringify({ gitVersion: 'v1.36.4' }));
      expect(req.headers.accept).toBe(SURFACE_ACCEPT);
      if (req.headers['if-none-match'] === etag) return void res.writeHead(304).end();
      res.setHeader('etag', etag);
      res.end(
        JSON.stringify(aggregated(req.url === '/api' ? { '/v1/pods': 'get' } : { [`batch/v${etag[1]}/jobs`]: 'get' })),
      );
    });
    closing.push(server.close);
    const reader = new SurfaceReader({ fetch: overHttp(server.port), clock: systemClock });

    const first = await reader.read();
    expect([...first.resources.keys()]).toEqual(['/v1/pods', 'batch/v1/jobs']);
    expect(first.kubernetesVersion).toBe('v1.36.4');
    expect(first.versionDocument).toBe('{"gitVersion":"v1.36.4"}');
    expect(await reader.read()).toBe(first);
    expect(seen.slice(3).sort()).toEqual(['/api "1"', '/apis "1"']);

    etag = '"2"';
    const third = await reader.read();
    expect(third).not.toBe(first);
    expect(third.resources.has('batch/v2/jobs')).toBe(true);
  });

  it('keeps the last good surface when a reply is malformed or an error', async () => {
    let answer = () => jsonReply(aggregated({ 'a/v1/x': 'get' }));
    const reader = new SurfaceReader({ fetch: async () => answer(), clock: systemClock });
    const surface = await reader.read();
    answer = () => jsonReply({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items: [3] });
    await expect(reader.read()).rejects.toThrow(/items\[0\]: is not an object/);
    answer = () => jsonReply({ message: 'etcd is away' }, 500);
    await expect(reader.read()).rejects.toThrow(new SurfaceReadError('/api', 500, 'etcd is away'));
    answer = () => jsonReply(aggregated({ 'a/v1/x': 'get' }));
    expect(await reader.read()).toBe(surface);
  });

  it('rejects after the timeout and aborts its requests', async () => {
    const clock = new ManualClock();
    let aborted = 0;
    const fetch: SurfaceFetch = (_, __, onAbort) => {
      onAbort(() => aborted++);
      return new Promise(() => {});
    };
    const reading = new SurfaceReader({ fetch, clock, timeoutMs: 3_000 }).read();
    const failed = expect(reading).rejects.toThrow(DeadlineError);
    await clock.advance(3_000);
    await failed;
    expect(aborted).toBe(2);
  });

  it('rejects a document larger than the bound', async () => {
    const fetch: SurfaceFetch = (path, headers, onAbort) => sendTo(server.port, 'GET', path, headers, null, onAbort);
    const server = await listen((_, res) => void res.end('x'.repeat(5_000)));
    closing.push(server.close);
    const reader = new SurfaceReader({ fetch, clock: systemClock, bodyBytesMax: 4_000 });
    await expect(reader.read()).rejects.toThrow(/larger than 4000 bytes/);
  });
});

describe('SurfaceReader with legacy discovery only', () => {
  it('reads the legacy lists with bounded concurrency', async () => {
    let metricsUp = true;
    let atOnce = 0;
    let atOnceMax = 0;
    const answers: Record<string, () => unknown> = {
      '/api': () => ({ kind: 'APIVersions', versions: ['v1'] }),
      '/apis': () => ({
        kind: 'APIGroupList',
        groups: ['a', 'b', 'gone', 'metrics'].map((name) => ({ name, versions: [{ version: 'v1' }] })),
      }),
      '/api/v1': () => ({ kind: 'APIResourceList', resources: [{ name: 'pods', kind: 'Pod', verbs: ['get'] }] }),
      '/apis/a/v1': () => ({ kind: 'APIResourceList', resources: [{ name: 'xs', kind: 'X', verbs: ['get'] }] }),
      '/apis/b/v1': () => ({ kind: 'APIResourceList', resources: [] }),
      '/version': () => ({ gitVersion: 'v1.25.0' }),
    };
    const fetch: SurfaceFetch = async (path, headers) => {
      expect(headerValue(headers, 'accept-encoding')).toBe('identity');
      atOnceMax = Math.max(atOnceMax, ++atOnce);
      await Promise.resolve();
      atOnce--;
      if (path === '/apis/metrics/v1') {
        const list = { kind: 'APIResourceList', resources: [{ name: 'nodes', kind: 'N', verbs: ['get'] }] };
        return metricsUp ? jsonReply(list) : jsonReply({}, 503);
      }
      const answer = answers[path];
      return answer ? jsonReply(answer()) : jsonReply({}, 404);
    };
    const reader = new SurfaceReader({ fetch, clock: systemClock, legacyConcurrencyMax: 2 });
    const surface = await reader.read();
    expect([...surface.resources.keys()]).toEqual(['/v1/pods', 'a/v1/xs', 'metrics/v1/nodes']);
    expect(surface.groups.map((group) => group.metadata.name)).toEqual(['a', 'b', 'metrics']);
    expect(atOnceMax).toBeLessThanOrEqual(4);
    expect(await reader.read()).toBe(surface);

    metricsUp = false;
    const later = await reader.read();
    expect(later.resources.has('metrics/v1/nodes')).toBe(true);
    expect(later.groups.at(-1)!.versions![0]!.freshness).toBe('Stale');
  });
});

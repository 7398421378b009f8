import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/logger.js';
import { createMetrics } from '../../src/base/metric-catalogue.js';
import type { Handler, Reply } from '../../src/http/exchange.js';
import { chain } from '../../src/http/exchange.js';
import { discoveryFilter } from '../../src/proxy/chain/discovery-filter.js';
import { openApiFilter } from '../../src/proxy/chain/openapi-filter.js';
import { DocumentFetcher } from '../../src/proxy/discovery/document-fetch.js';
import { exchangeFor } from '../../src/proxy/discovery/exchange.fixture.js';
import { LegacyDiscovery } from '../../src/proxy/discovery/legacy-discovery.js';
import { OpenApiV2 } from '../../src/proxy/discovery/merged-openapi-v2.js';
import { OpenApiV3Documents } from '../../src/proxy/discovery/openapi-v3-document.js';
import { OpenApiIndexReader } from '../../src/proxy/discovery/openapi-v3-index.js';
import { permission } from '../../src/proxy/discovery/permission.js';
import { StorageHashReader } from '../../src/proxy/discovery/storage-hashes.js';
import { group, resource, surfaceOf, version } from '../../src/proxy/discovery/surface.fixture.js';
import { tableOf } from '../../src/proxy/discovery/table.fixture.js';
import { ViewCache } from '../../src/proxy/discovery/view-cache.js';
import { listen, sendTo } from '../../src/proxy/peers/fake-server.fixture.js';
import { SurfaceReader } from '../../src/proxy/peers/surface-reader.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const MEGABYTE = 1024 * 1024;

/** Faulty replies of a peer over a real socket, with the type of the fault. */
const WRONG_ANSWERS: Readonly<Record<string, [answer: (res: ServerResponse) => void, fault: RegExp]>> = {
  garbage: [(res) => void res.writeHead(200, JSON_TYPE).end('\u0000\u0001 no document'), /malformed/],
  'the beginning of a document': [(res) => void res.writeHead(200, JSON_TYPE).end('{"paths":{"a":'), /malformed/],
  'a body that breaks off': [
    (res) => {
      res.writeHead(200, { ...JSON_TYPE, 'content-length': '1000' });
      res.write('{"paths":{}', () => res.destroy());
    },
    /truncated|connection/,
  ],
  'chunks that break off': [
    (res) => {
      res.writeHead(200, JSON_TYPE);
      res.write('{"paths":{}', () => res.destroy());
    },
    /truncated|connection/,
  ],
  'a wrong content type': [
    (res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('{"paths":{},"definitions":{}}'),
    /content-type/,
  ],
  'a document of 50 MB, announced': [
    (res) => {
      res.writeHead(200, { ...JSON_TYPE, 'content-length': String(50 * MEGABYTE) });
      pour(res, 50);
    },
    /too-large/,
  ],
  'a document of 50 MB, chunked': [
    (res) => {
      res.writeHead(200, JSON_TYPE);
      pour(res, 50);
    },
    /too-large/,
  ],
};

const BLANKS = Buffer.alloc(MEGABYTE, ' ');

function pour(res: ServerResponse, megabytes: number): void {
  if (res.destroyed) return;
  if (megabytes === 0) return void res.end();
  res.write(BLANKS, () => pour(res, megabytes - 1));
}

const openApi = (name: string) => ({ openapi: '3.0.0', info: {}, paths: { [`/${name}`]: { get: {} } } });
const swagger = (name: string) => ({ swagger: '2.0', info: {}, paths: {}, definitions: { [name]: {} } });

/** Documents of a good server. All serve `batch/v1`, each with other content. */
function goodAnswer(name: string, target: string): object | undefined {
  const url = (path: string) => ({ serverRelativeURL: `/openapi/v3/${path}?hash=${name.toUpperCase()}` });
  const answers: Readonly<Record<string, object>> = {
    '/openapi/v3': { paths: { 'apis/batch/v1': url('apis/batch/v1'), [`apis/${name}/v1`]: url(`apis/${name}/v1`) } },
    '/openapi/v3/apis/batch/v1': openApi(name),
    [`/openapi/v3/apis/${name}/v1`]: openApi(name),
    '/openapi/v2': swagger(name),
    '/apis/batch/v1': { kind: 'APIResourceList', resources: [{ name: `${name}s`, storageVersionHash: name }] },
  };
  return answers[target];
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Server a (this one) and b are good; c, the newest, answers the targets in `spoilt` wrongly. */
async function controlPlane(wrong: (res: ServerResponse) => void, spoilt: (target: string) => boolean) {
  const start = async (name: string) => {
    const server = await listen((req, res) => {
      if (name === 'c' && spoilt(req.url!)) return wrong(res);
      const answer = goodAnswer(name, req.url!);
      if (!answer) return void res.writeHead(404).end();
      res.writeHead(200, { ...JSON_TYPE, etag: `"${name}"` }).end(JSON.stringify(answer));
    });
    closing.push(server.close);
    return server.port;
  };
  const ports: Record<string, number> = { a: await start('a'), b: await start('b'), c: await start('c') };
  const lines: string[] = [];
  const metrics = createMetrics();
  const logger = createLogger({ level: 'warn', format: 'json', write: (line) => lines.push(line), nowMs: () => 0 });
  const fetcher = new DocumentFetcher({
    send: (server, target, headers, onAbort) => sendTo(ports[server]!, 'GET', target, headers, null, onAbort),
    clock: systemClock,
    logger,
    onFault: (_server, fault) => metrics.documentFaults.labels(fault).inc(),
  });
  return { handle: filters(fetcher), faults: () => metrics.registry.render(), log: () => lines.join('') };
}

function filters(fetcher: DocumentFetcher): Handler {
  const surface = (name: string, kubernetesVersion: string) =>
    surfaceOf([group('batch', version('v1', resource(`${name}s`)))], [], kubernetesVersion);
  const local = surface('a', 'v1.35.8');
  const table = tableOf({ b: surface('b', 'v1.36.4'), c: surface('c', 'v1.36.5') });
  const views = new ViewCache(
    { self: 'a', local: () => local, peers: () => table },
    { cacheHit: () => {}, cacheMiss: () => {} },
  );
  const shared = { active: () => true, views, authorize: permission(systemClock), clock: systemClock };
  return chain(
    [
      discoveryFilter({
        ...shared,
        legacy: new LegacyDiscovery(new StorageHashReader(fetcher)),
        hooks: { nopeer: () => {} },
      }),
      openApiFilter({
        ...shared,
        self: 'a',
        index: new OpenApiIndexReader(fetcher, systemClock),
        documents: new OpenApiV3Documents(fetcher),
        v2: new OpenApiV2(fetcher, systemClock),
      }),
    ],
    async () => ({ status: 200, headers: ['Content-Type', 'application/json'], body: Buffer.from('{}') }),
  );
}

async function whole<T>(handle: Handler, path: string): Promise<T> {
  const reply: Reply = await handle(exchangeFor(path, { headers: ['Accept', 'application/json'] }));
  expect(reply.status).toBe(200);
  return JSON.parse(Buffer.from(reply.body as Uint8Array).toString()) as T;
}

describe.each(Object.entries(WRONG_ANSWERS))('a peer that answers %s', (_, [wrong, fault]) => {
  const noticed = (plane: Awaited<ReturnType<typeof controlPlane>>) => {
    expect(plane.log()).toMatch(/"server":"c"/);
    expect(plane.faults()).toMatch(new RegExp(`straddle_peer_document_faults_total\\{.*(${fault.source}).*\\} 1`));
  };

  it('is left out of the OpenAPI index', async () => {
    const plane = await controlPlane(wrong, (target) => target === '/openapi/v3');
    const { paths } = await whole<{ paths: object }>(plane.handle, '/openapi/v3');
    expect(Object.keys(paths).sort()).toEqual(['apis/a/v1', 'apis/b/v1', 'apis/batch/v1']);
    noticed(plane);
  });

  it('is left out of an OpenAPI v3 document, and a document that only this peer has is a 503', async () => {
    const plane = await controlPlane(wrong, (target) => target.startsWith('/openapi/v3/'));
    const { paths } = await whole<{ paths: object }>(plane.handle, '/openapi/v3/apis/batch/v1');
    expect(Object.keys(paths).sort()).toEqual(['/a', '/b']);
    noticed(plane);
    const only = plane.handle(exchangeFor('/openapi/v3/apis/c/v1', { headers: ['Accept', 'application/json'] }));
    await expect(only).rejects.toMatchObject({ status: { code: 503 } });
  });

  it('is left out of OpenAPI v2', async () => {
    const plane = await controlPlane(wrong, (target) => target === '/openapi/v2');
    const { definitions } = await whole<{ definitions: object }>(plane.handle, '/openapi/v2');
    expect(Object.keys(definitions).sort()).toEqual(['a', 'b']);
    noticed(plane);
  });

  it('costs a legacy list only the storage version hashes of that peer', async () => {
    const plane = await controlPlane(wrong, (target) => target === '/apis/batch/v1');
    const { resources } = await whole<{ resources: { name: string; storageVersionHash?: string }[] }>(
      plane.handle,
      '/apis/batch/v1',
    );
    expect(resources.map(({ name, storageVersionHash }) => [name, storageVersionHash])).toEqual([
      ['as', 'a'],
      ['bs', 'b'],
      ['cs', undefined],
    ]);
    noticed(plane);
  });

  it('does not change the surface that was last read from it', async () => {
    let spoilt = false;
    const server = await listen((req, res) => {
      if (spoilt) return wrong(res);
      const items = req.url === '/api' ? [] : [group('batch', version('v1', resource('jobs')))];
      res
        .writeHead(200, JSON_TYPE)
        .end(JSON.stringify({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items }));
    });
    closing.push(server.close);
    const reader = new SurfaceReader({
      fetch: (path, headers, onAbort) => sendTo(server.port, 'GET', path, headers, null, onAbort),
      clock: systemClock,
    });
    const surface = await reader.read();
    expect(surface.resources.has('batch/v1/jobs')).toBe(true);
    spoilt = true;
    await expect(reader.read()).rejects.toThrow();
    spoilt = false;
    expect(await reader.read()).toBe(surface);
  });
});

import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { hashOf as contentHash } from '../../http/ready-document.js';
import { DocumentFetcher, FETCH_LIMITS } from '../discovery/document-fetch.js';
import { exchangeFor } from '../discovery/exchange.fixture.js';
import { OPENAPI_V2_FRESH_MS, OPENAPI_V2_TIMEOUT_MS, OpenApiV2 } from '../discovery/merged-openapi-v2.js';
import { OpenApiV3Documents } from '../discovery/openapi-v3-document.js';
import { INDEX_FRESH_MS, OpenApiIndexReader } from '../discovery/openapi-v3-index.js';
import { permission } from '../discovery/permission.js';
import { group, surfaceOf, version } from '../discovery/surface.fixture.js';
import { tableOf } from '../discovery/table.fixture.js';
import { ViewCache } from '../discovery/view-cache.js';
import type { PeerTable } from '../peers/peer-table.js';
import { openApiFilter } from './openapi-filter.js';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';

/** OpenAPI documents of a server by path; the index is derived from them. */
interface FakeServer {
  readonly v3: Record<string, object>;
  readonly v2?: object;
  /** Replaces the replies to some or all targets. */
  answer?: (target: string) => Reply | Promise<Reply> | undefined;
}

const document = (title: string, ...paths: string[]) => ({
  openapi: '3.0.0',
  info: { title },
  paths: Object.fromEntries(paths.map((path) => [path, { get: { operationId: title } }])),
});
const swagger = (...names: string[]) => ({
  swagger: '2.0',
  paths: {},
  definitions: Object.fromEntries(names.map((name) => [name, {}])),
});
const bytesOf = (value: object) => Buffer.from(JSON.stringify(value));
const hashOf = (value: object) => contentHash(bytesOf(value));

function serve(server: FakeServer, target: string, headers: readonly string[]): Reply | Promise<Reply> {
  const instead = server.answer?.(target);
  if (instead) return instead;
  if (target === '/openapi/v3') {
    const entries = Object.entries(server.v3).map(([path, value]) => [
      path,
      { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(value)}` },
    ]);
    return reply(bytesOf({ paths: Object.fromEntries(entries) }), 'text/plain; charset=utf-8');
  }
  const value = target === '/openapi/v2' ? server.v2 : server.v3[target.slice('/openapi/v3/'.length)];
  if (!value) return { status: 404, headers: [], body: null };
  const etag = `"${hashOf(value)}"`;
  if (headerValue(headers, 'if-none-match') === etag) return { status: 304, headers: ['Etag', etag], body: null };
  return reply(bytesOf(value), 'application/json', etag);
}

function reply(body: Buffer, contentType: string, etag?: string): Reply {
  return { status: 200, headers: ['Content-Type', contentType, ...(etag ? ['Etag', etag] : [])], body };
}

function setup(
  servers: Record<string, FakeServer>,
  more: { table?: PeerTable; host?: () => Reply; self?: string } = {},
) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const faults: string[] = [];
  const reached: Exchange[] = [];
  const self = more.self ?? 'a';
  const surface = surfaceOf([], [], 'v1.35.8');
  const peers = Object.keys(servers).filter((name) => name !== self);
  const newer = Object.fromEntries(peers.map((name) => [name, surfaceOf([], [], 'v1.36.4')]));
  const table = more.table ?? tableOf(newer);
  const views = new ViewCache(
    { self, local: () => surface, peers: () => table },
    { cacheHit: () => {}, cacheMiss: () => {} },
  );
  const fetcher = new DocumentFetcher({
    send: async (name, target, headers) => {
      asked.push(`${name} ${target}`);
      return serve(servers[name]!, target, headers);
    },
    clock,
    logger: silentLogger,
    onFault: (server, fault) => faults.push(`${server} ${fault}`),
  });
  const handle = openApiFilter({
    active: () => true,
    self,
    views,
    index: new OpenApiIndexReader(fetcher, clock),
    documents: new OpenApiV3Documents(fetcher),
    v2: new OpenApiV2(fetcher, clock),
    authorize: permission(clock),
    clock,
  }).wrap(async (exchange) => {
    reached.push(exchange);
    return more.host?.() ?? { status: 200, headers: [], body: Buffer.from('from the host') };
  });
  return { handle, clock, asked, faults, reached };
}

const get = (target: string, ...headers: string[]) => exchangeFor(target, { headers });
const text = (answer: Reply) => Buffer.from((answer.body ?? Buffer.alloc(0)) as Uint8Array).toString();
const pathsOf = (answer: Reply) => Object.keys(JSON.parse(text(answer)).paths);

const podsOld = document('old', '/api/v1/pods');
const podsNew = document('new', '/api/v1/pods', '/api/v1/pods/resize');
const same = document('same', '/version');
const onlyB = document('only', '/apis/batch/v1/jobs');
const skewed = () => ({
  a: { v3: { 'api/v1': podsOld, version: same }, v2: swagger('Pod') },
  b: { v3: { 'api/v1': podsNew, version: same, 'apis/batch/v1': onlyB }, v2: swagger('Pod', 'Job') },
});

describe('OpenAPI filter, version 3', () => {
  it('serves the same index of the documents of all servers on each', async () => {
    const a = await setup(skewed()).handle(get('/openapi/v3'));
    expect(pathsOf(a)).toEqual(['api/v1', 'apis/batch/v1', 'version']);
    const { paths } = JSON.parse(text(a));
    expect(paths['version'].serverRelativeURL).toBe(`/openapi/v3/version?hash=${hashOf(same)}`);
    expect(paths['apis/batch/v1'].serverRelativeURL).toBe(`/openapi/v3/apis/batch/v1?hash=${hashOf(onlyB)}`);
  });

  it('fetches the document of a peer once and passes its bytes on unchanged', async () => {
    const { handle, asked } = setup(skewed());
    for (let i = 0; i < 3; i++) {
      const answer = await handle(get('/openapi/v3/apis/batch/v1'));
      expect(text(answer)).toBe(JSON.stringify(onlyB));
      expect(headerValue(answer.headers, 'etag')).toBe(`"${hashOf(onlyB)}"`);
      expect(headerValue(answer.headers, 'content-type')).toBe('application/json');
    }
    expect(asked.filter((line) => line.includes('batch'))).toEqual(['b /openapi/v3/apis/batch/v1']);
  });

  it('merges documents that differ, with precedence for the newest server', async () => {
    const { handle } = setup(skewed());
    const answer = await handle(get('/openapi/v3/api/v1'));
    expect(pathsOf(answer)).toEqual(['/api/v1/pods', '/api/v1/pods/resize']);
    expect(JSON.parse(text(answer)).paths['/api/v1/pods'].get.operationId).toBe('new');
  });

  it('caches a document that is the same on all servers, fetched once', async () => {
    const { handle, asked, reached } = setup(skewed());
    const url = `/openapi/v3/version?hash=${hashOf(same)}`;
    const first = await handle(get(url));
    expect(text(first)).toBe(JSON.stringify(same));
    expect(headerValue(first.headers, 'etag')).toBe(`"${hashOf(same)}"`);
    expect((await handle(get(url))).body).toBe(first.body);
    expect(asked.filter((line) => line.endsWith('/openapi/v3/version'))).toHaveLength(1);
    expect(reached.filter(({ target }) => target === url)).toEqual([]);
  });

  it('fetches a document that is the same on all servers from the host, or from a peer if that fails', async () => {
    const servers: Record<string, FakeServer> = skewed();
    const { handle, asked } = setup(servers);
    await handle(get('/openapi/v3'));
    servers['b']!.answer = () => new Promise<Reply>(() => {});
    expect(text(await handle(get('/openapi/v3/version')))).toBe(JSON.stringify(same));
    expect(asked.at(-1)).toBe('a /openapi/v3/version');

    const failing: Record<string, FakeServer> = skewed();
    const other = setup(failing);
    await other.handle(get('/openapi/v3'));
    failing['a']!.answer = () => Promise.reject(new Error('connection refused'));
    expect(text(await other.handle(get('/openapi/v3/version')))).toBe(JSON.stringify(same));
    expect(other.asked.slice(-2)).toEqual(['a /openapi/v3/version', 'b /openapi/v3/version']);
  });

  it('passes the request to the host if a document that is the same on all servers cannot be fetched', async () => {
    const servers: Record<string, FakeServer> = skewed();
    for (const name of ['a', 'b']) {
      servers[name]!.answer = (target) =>
        target === '/openapi/v3/version' ? { status: 406, headers: [], body: null } : undefined;
    }
    const { handle, reached } = setup(servers);
    const exchange = get('/openapi/v3/version');
    expect(text(await handle(exchange))).toBe('from the host');
    const odd = get('/openapi/v3/version', 'Accept', 'text/odd');
    expect(text(await handle(odd))).toBe('from the host');
    expect(reached).toEqual(expect.arrayContaining([exchange, odd]));
  });

  it('marks a document immutable under its hash, and redirects from an old hash', async () => {
    const { handle } = setup(skewed());
    const index = JSON.parse(text(await handle(get('/openapi/v3'))));
    const url = index.paths['api/v1'].serverRelativeURL;
    const current = await handle(get(url));
    expect(headerValue(current.headers, 'cache-control')).toBe('public, immutable');
    expect(url).toContain(headerValue(current.headers, 'etag')!.slice(1, -1));
    const old = await handle(get('/openapi/v3/api/v1?hash=OLD'));
    expect([old.status, headerValue(old.headers, 'location')]).toEqual([301, url]);
    const again = await handle(get('/openapi/v3/api/v1', 'If-None-Match', headerValue(current.headers, 'etag')!));
    expect(again.status).toBe(304);
  });

  it('serves a changed document of a server soon', async () => {
    const servers = skewed();
    const { handle, clock } = setup(servers);
    await handle(get('/openapi/v3'));
    servers.b.v3['apis/batch/v1'] = document('changed', '/apis/batch/v1/cronjobs');
    await clock.advance(INDEX_FRESH_MS);
    expect(pathsOf(await handle(get('/openapi/v3/apis/batch/v1')))).toEqual(['/apis/batch/v1/cronjobs']);
  });

  it('waits once for a peer that hangs, and serves the rest of the index', async () => {
    const servers: Record<string, FakeServer> = {
      ...skewed(),
      c: { v3: {}, answer: () => new Promise<Reply>(() => {}) },
    };
    const { handle, clock, faults } = setup(servers);
    const answer = handle(get('/openapi/v3'));
    await settle();
    await clock.advance(FETCH_LIMITS.timeoutMs);
    expect(pathsOf(await answer)).toEqual(['api/v1', 'apis/batch/v1', 'version']);
    await clock.advance(INDEX_FRESH_MS);
    expect(pathsOf(await handle(get('/openapi/v3')))).toHaveLength(3);
    expect(faults).toEqual(['c timeout']);
  });

  it.each<[string, Reply]>([
    ['malformed', reply(Buffer.from('garbage'), 'application/json')],
    ['malformed', reply(Buffer.from('{"paths":[]}'), 'application/json')],
    ['content-type', reply(Buffer.from('<html>'), 'text/html')],
    [
      'truncated',
      { status: 200, headers: ['Content-Type', 'application/json', 'Content-Length', '99'], body: Buffer.from('{"pa') },
    ],
    [
      'too-large',
      { status: 200, headers: ['Content-Type', 'application/json', 'Content-Length', '52428800'], body: null },
    ],
  ])('ignores the bad index of a peer: %s', async (fault, bad) => {
    const { handle, faults } = setup({ ...skewed(), c: { v3: {}, answer: () => bad } });
    expect(pathsOf(await handle(get('/openapi/v3')))).toHaveLength(3);
    expect(faults).toEqual([`c ${fault}`]);
  });

  it('serves the valid parts of a document as not cacheable when one part is malformed', async () => {
    const servers: Record<string, FakeServer> = skewed();
    const { handle, faults } = setup(servers);
    await handle(get('/openapi/v3'));
    servers['b']!.answer = (target) =>
      target === '/openapi/v3/api/v1'
        ? reply(Buffer.from('{"openapi":"3.0.0","paths":{'), 'application/json')
        : undefined;
    const answer = await handle(get('/openapi/v3/api/v1'));
    expect(text(answer)).toBe(JSON.stringify(podsOld));
    expect(headerValue(answer.headers, 'cache-control')).toBe('no-cache, private');
    expect(faults).toEqual(['b malformed']);
  });

  it('replies with 503 when the only server with a document is unreachable', async () => {
    const servers: Record<string, FakeServer> = skewed();
    const { handle } = setup(servers);
    await handle(get('/openapi/v3'));
    servers['b']!.answer = () => Promise.reject(new Error('connection refused'));
    await expect(handle(get('/openapi/v3/apis/batch/v1'))).rejects.toMatchObject({ status: { code: 503 } });
  });

  it('keeps the documents of a peer in the index while it is briefly unreachable', async () => {
    const servers: Record<string, FakeServer> = skewed();
    const { handle, clock } = setup(servers);
    await handle(get('/openapi/v3'));
    servers['b']!.answer = () => Promise.reject(new Error('connection refused'));
    await clock.advance(INDEX_FRESH_MS);
    expect(pathsOf(await handle(get('/openapi/v3')))).toHaveLength(3);
  });

  it('fetches from a peer when the host is unreachable', async () => {
    const servers: Record<string, FakeServer> = skewed();
    const { handle, clock } = setup(servers);
    await handle(get('/openapi/v3'));
    servers['a']!.answer = () => Promise.reject(new Error('connection refused'));
    await clock.advance(INDEX_FRESH_MS);
    expect(text(await handle(get('/openapi/v3/version')))).toBe(JSON.stringify(same));
  });

  it('requests protobuf when the client does', async () => {
    const servers: Record<string, FakeServer> = skewed();
    const bytes = Buffer.concat([Buffer.from([0x0a, 5]), Buffer.from('3.0.0')]);
    servers['b']!.answer = (target) =>
      target.endsWith('batch/v1') ? reply(bytes, PROTOBUF, `"${hashOf(onlyB)}"`) : undefined;
    const { handle } = setup(servers);
    const answer = await handle(get('/openapi/v3/apis/batch/v1', 'Accept', PROTOBUF.replace('.v1.0', '@v1.0')));
    expect(headerValue(answer.headers, 'content-type')).toBe(PROTOBUF);
    expect(answer.body).toEqual(bytes);
    await expect(handle(get('/openapi/v3/apis/batch/v1', 'Accept', 'text/html'))).rejects.toMatchObject({
      status: { code: 406 },
    });
  });

  it('returns the 403 of the API server and passes unknown paths to the host', async () => {
    const refused = setup(skewed(), { host: () => ({ status: 403, headers: [], body: Buffer.from('forbidden') }) });
    for (const path of ['/openapi/v3', '/openapi/v3/apis/batch/v1', '/openapi/v2']) {
      expect((await refused.handle(get(path))).status).toBe(403);
    }
    expect(refused.asked).toEqual([]);
    const { handle, asked } = setup(skewed());
    expect(text(await handle(get('/openapi/v3/apis/nobody/v1')))).toBe('from the host');
    expect(text(await handle(get('/openapi/v3/a%0d%0ab')))).toBe('from the host');
    expect(text(await handle(get('/openapi/')))).toBe('from the host');
    expect(asked.filter((line) => !line.endsWith('/openapi/v3'))).toEqual([]);
  });

  it('replies with 503 for a group-version of a departed server only', async () => {
    const gone = surfaceOf([group('batch', version('v1'))]);
    const { handle } = setup({ a: { v3: {} } }, { table: tableOf({}, { b: gone }) });
    await expect(handle(get('/openapi/v3/apis/batch/v1'))).rejects.toMatchObject({ status: { code: 503 } });
  });

  it('passes everything to the host when there is no peer', async () => {
    const { handle, asked } = setup({ a: { v3: {} } }, { table: tableOf({}) });
    expect(text(await handle(get('/openapi/v3')))).toBe('from the host');
    expect(asked).toEqual([]);
  });
});

describe('OpenAPI filter, version 2', () => {
  const definitionsOf = (answer: Reply) => Object.keys(JSON.parse(text(answer)).definitions);

  it('merges the definitions of all servers, fetched once, then by conditional requests', async () => {
    const servers = skewed();
    const { handle, clock, asked } = setup(servers);
    const first = await handle(get('/openapi/v2'));
    expect(definitionsOf(first)).toEqual(['Job', 'Pod']);
    expect((await handle(get('/openapi/v2'))).body).toBe(first.body);
    expect(asked).toEqual(['b /openapi/v2', 'a /openapi/v2']);
    await clock.advance(OPENAPI_V2_FRESH_MS);
    expect((await handle(get('/openapi/v2'))).body).toBe(first.body);
    expect(asked).toHaveLength(4);
    const etag = headerValue(first.headers, 'etag')!;
    expect((await handle(get('/openapi/v2', 'If-None-Match', etag))).status).toBe(304);
  });

  it('serves the changed definitions of a server', async () => {
    const servers: Record<string, FakeServer & { v2: object }> = skewed();
    const { handle, clock } = setup(servers);
    await handle(get('/openapi/v2'));
    servers['b'] = { ...servers['b']!, v2: swagger('Pod', 'Widget') };
    await clock.advance(OPENAPI_V2_FRESH_MS);
    expect(definitionsOf(await handle(get('/openapi/v2')))).toEqual(['Pod', 'Widget']);
  });

  it('passes the request to the host when all servers have the same document', async () => {
    const one = { v3: {}, v2: swagger('Pod') };
    const { handle, reached } = setup({ a: one, b: one });
    const exchange = get('/openapi/v2');
    expect(text(await handle(exchange))).toBe('from the host');
    expect(reached).toContain(exchange);
  });

  it('ignores a peer whose document is malformed or too large, or that is unreachable', async () => {
    const bad: [string, FakeServer['answer']][] = [
      ['c malformed', () => reply(Buffer.from('garbage'), 'application/json', '"x"')],
      ['c too-large', () => reply(Buffer.alloc(50 * 1024 * 1024, 32), 'application/json', '"x"')],
      ['c content-type', () => reply(Buffer.from('x'), 'text/plain')],
      ['c connection', () => Promise.reject(new Error('connection refused'))],
    ];
    for (const [fault, answer] of bad) {
      const servers: Record<string, FakeServer> = { ...skewed(), c: { v3: {}, ...(answer ? { answer } : {}) } };
      const { handle, faults } = setup(servers);
      expect(definitionsOf(await handle(get('/openapi/v2')))).toEqual(['Job', 'Pod']);
      expect(faults).toEqual([fault]);
    }
  });

  it('waits longer than for other documents, and once for a peer that hangs', async () => {
    const servers: Record<string, FakeServer> = {
      ...skewed(),
      c: { v3: {}, answer: () => new Promise<Reply>(() => {}) },
    };
    const { handle, clock, faults } = setup(servers);
    const answer = handle(get('/openapi/v2'));
    await settle();
    await clock.advance(FETCH_LIMITS.timeoutMs);
    expect(faults).toEqual([]);
    await clock.advance(OPENAPI_V2_TIMEOUT_MS - FETCH_LIMITS.timeoutMs);
    expect(definitionsOf(await answer)).toEqual(['Job', 'Pod']);
    expect(definitionsOf(await handle(get('/openapi/v2')))).toEqual(['Job', 'Pod']);
    expect(faults).toEqual(['c timeout']);
  });

  it('replies with 503 when no server is reachable', async () => {
    const down: FakeServer = { v3: {}, answer: () => Promise.reject(new Error('connection refused')) };
    const { handle } = setup({ a: down, b: down });
    await expect(handle(get('/openapi/v2'))).rejects.toMatchObject({ status: { code: 503 } });
  });
});

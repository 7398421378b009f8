import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBody } from '../../http/body-stream.js';
import { headerValue } from '../../http/headers.js';
import type { JsonObject } from '../../kube/json.js';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';

let api: TestApiServer;
const MAPS = '/api/v1/namespaces/default/configmaps';
const NAMES = Array.from({ length: 25 }, (_, index) => `m${String(index).padStart(2, '0')}`);

beforeAll(async () => {
  api = await startTestApiServer();
  for (const [index, name] of NAMES.entries()) {
    const metadata = { name, labels: { parity: index % 2 === 0 ? 'even' : 'odd' } };
    await api.ask('POST', MAPS, { body: { kind: 'ConfigMap', apiVersion: 'v1', metadata } });
  }
});
afterAll(() => api.close());

const meta = (object: JsonObject): JsonObject => object['metadata'] as JsonObject;
const names = (list: JsonObject): unknown[] => (list['items'] as JsonObject[]).map((item) => meta(item)['name']);
const list = (query = ''): ReturnType<TestApiServer['ask']> => api.ask('GET', `${MAPS}${query}`);

describe('get', () => {
  it('returns the write of another server on the same store before its watch event arrives', async () => {
    const other = await startTestApiServer({ backend: api.backend });
    const body = (turn: number): JsonObject => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'told' },
      data: { turn: String(turn) },
    });
    await other.ask('POST', `${MAPS}`, { body: body(0) });
    for (let turn = 1; turn <= 20; turn++) {
      const written = await other.ask('PUT', `${MAPS}/told`, { body: body(turn) });
      expect((await api.ask('GET', `${MAPS}/told`)).text).toBe(written.text);
    }
    await other.ask('DELETE', `${MAPS}/told`);
    expect((await api.ask('GET', `${MAPS}/told`)).status).toBe(404);
    await other.close();
  });

  it.each([
    ['gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000, identity', undefined],
    ['br', undefined],
  ])('answers a large object for Accept-Encoding %j with Content-Encoding %s', async (field, coding) => {
    const metadata = { name: 'large' };
    const data = { text: 'x'.repeat(200_000) };
    await api.ask('POST', MAPS, { body: { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } });
    const reply = await api.send('GET', `${MAPS}/large`, { headers: { 'accept-encoding': field } });
    await readBody(reply.body, 2 ** 20);
    await api.ask('DELETE', `${MAPS}/large`);
    expect(headerValue(reply.headers, 'content-encoding')).toBe(coding);
  });
});

describe('list', () => {
  it('returns all objects in order, without kind and apiVersion in the items', async () => {
    const { body } = await list();
    expect([body['kind'], body['apiVersion']]).toEqual(['ConfigMapList', 'v1']);
    expect(names(body)).toEqual(NAMES);
    expect((body['items'] as JsonObject[])[0]!['kind']).toBeUndefined();
  });

  it('returns all pages at one revision in spite of concurrent writes', async () => {
    const first = await list('?limit=10');
    expect(meta(first.body)['remainingItemCount']).toBe(15);
    await api.ask('POST', MAPS, { body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm055' } } });
    const second = await list(`?limit=10&continue=${meta(first.body)['continue']}`);
    const third = await list(`?limit=10&continue=${meta(second.body)['continue']}`);
    expect([...names(first.body), ...names(second.body), ...names(third.body)]).toEqual(NAMES);
    expect(meta(third.body)['continue']).toBeUndefined();
    expect(meta(third.body)['resourceVersion']).toBe(meta(first.body)['resourceVersion']);
    await api.ask('DELETE', `${MAPS}/m055`);
  });

  it('pages through selected objects without remainingItemCount', async () => {
    const first = await list('?limit=10&labelSelector=parity=even');
    expect(meta(first.body)['remainingItemCount']).toBeUndefined();
    const second = await list(`?limit=10&labelSelector=parity=even&continue=${meta(first.body)['continue']}`);
    expect([...names(first.body), ...names(second.body)]).toEqual(NAMES.filter((_, index) => index % 2 === 0));
  });

  it('selects objects by field', async () => {
    expect(names((await list('?fieldSelector=metadata.name=m07')).body)).toEqual(['m07']);
    expect((await list('?fieldSelector=data.a=1')).status).toBe(400);
    expect((await list('?labelSelector=a==b==c')).status).toBe(400);
  });

  it('reads an exact past revision and a minimum revision, and refuses a future one', async () => {
    const { body: before } = await list();
    const then = meta(before)['resourceVersion'];
    await api.ask('POST', MAPS, { body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'z' } } });
    expect(names((await list(`?resourceVersion=${then}&resourceVersionMatch=Exact`)).body)).toEqual(NAMES);
    expect(names((await list(`?resourceVersion=${then}`)).body)).toEqual([...NAMES, 'z']);
    await api.ask('DELETE', `${MAPS}/z`);
    expect((await list('?resourceVersionMatch=Exact')).status).toBe(422);
    expect((await list('?resourceVersion=x')).status).toBeGreaterThanOrEqual(400);
    expect((await list('?continue=nonsense!')).status).toBe(400);
  });

  it('replies 410 with a new continue token once the revision is compacted', async () => {
    const { body } = await list('?limit=3');
    await api.ask('PATCH', `${MAPS}/m24`, { body: { data: { a: 'x' } } });
    await api.backend.compact(await api.backend.currentRevision());
    const gone = await list(`?limit=3&continue=${meta(body)['continue']}`);
    expect([gone.status, gone.body['reason']]).toEqual([410, 'Expired']);
    const rest = await list(`?limit=100&continue=${meta(gone.body)['continue']}`);
    expect(names(rest.body)).toEqual(NAMES.slice(3));
  });

  it('returns a table or only metadata on request', async () => {
    const table = await api.ask('GET', `${MAPS}/m00`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    });
    expect(table.body['kind']).toBe('Table');
    expect((table.body['rows'] as JsonObject[])[0]!['cells']).toEqual(['m00', 0, expect.any(String)]);
    const partial = await api.ask('GET', MAPS, {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    });
    expect(partial.body['kind']).toBe('PartialObjectMetadataList');
    expect((await api.ask('GET', MAPS, { headers: { accept: 'image/png' } })).status).toBe(406);
  });
});

describe('watch', () => {
  const told = (events: readonly { type: string; object: JsonObject }[]): string[] =>
    events.map(({ type, object }) => `${type} ${meta(object)['name'] ?? ''}`.trim());

  it('sends the events after a revision in order, each once', async () => {
    const { body } = await list();
    const watch = await api.watch(`${MAPS}?watch=true&resourceVersion=${meta(body)['resourceVersion']}`);
    await api.ask('POST', MAPS, { body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'w1' } } });
    await api.ask('PATCH', `${MAPS}/w1`, { body: { data: { a: '1' } } });
    await api.ask('DELETE', `${MAPS}/w1`);
    const events = await watch.take(3);
    watch.cancel();
    expect(told(events)).toEqual(['ADDED w1', 'MODIFIED w1', 'DELETED w1']);
    const revisions = events.map(({ object }) => Number(meta(object)['resourceVersion']));
    expect(revisions).toEqual([...revisions].sort((left, right) => left - right));
    expect(new Set(revisions).size).toBe(3);
  });

  it('sends the initial state and a bookmark at its end on request', async () => {
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await api.watch(`${MAPS}?${query}&labelSelector=parity=odd`);
    const events = await watch.take(13);
    watch.cancel();
    expect(told(events.slice(0, 12))).toEqual(
      NAMES.filter((_, index) => index % 2 === 1).map((name) => `ADDED ${name}`),
    );
    expect(events[12]!.type).toBe('BOOKMARK');
    expect(meta(events[12]!.object)['annotations']).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });

  it('sends ADDED and DELETED for objects that enter and leave the selection', async () => {
    const { body } = await list();
    const watch = await api.watch(
      `${MAPS}?watch=1&labelSelector=parity=even&resourceVersion=${meta(body)['resourceVersion']}`,
    );
    await api.ask('PATCH', `${MAPS}/m01`, { body: { metadata: { labels: { parity: 'even' } } } });
    await api.ask('PATCH', `${MAPS}/m01`, { body: { metadata: { labels: { parity: 'odd' } } } });
    const events = await watch.take(2);
    watch.cancel();
    expect(told(events)).toEqual(['ADDED m01', 'DELETED m01']);
  });

  it('reads evicted events from the store, and sends 410 once they are compacted', async () => {
    const { body } = await list();
    const from = meta(body)['resourceVersion'];
    for (let count = 0; count < 5; count++)
      await api.ask('PATCH', `${MAPS}/m02`, { body: { data: { n: String(count) } } });
    const second = await startTestApiServer({ backend: api.backend });
    const watch = await second.watch(`${MAPS}?watch=true&resourceVersion=${from}`);
    expect(told(await watch.take(5))).toEqual(Array(5).fill('MODIFIED m02'));
    await api.ask('PATCH', `${MAPS}/m02`, { body: { data: { n: 'last' } } });
    expect(told(await watch.take(1))).toEqual(['MODIFIED m02']);
    watch.cancel();
    await api.backend.compact(await api.backend.currentRevision());
    const third = await startTestApiServer({ backend: api.backend });
    const late = await third.watch(`${MAPS}?watch=true&resourceVersion=${from}`);
    const [event] = await late.take(1);
    expect([event!.type, event!.object['code'], event!.object['reason']]).toEqual(['ERROR', 410, 'Expired']);
    expect(await late.next()).toBeUndefined();
    await second.close();
    await third.close();
  });

  it.each(['2147484', '9999999999', '9223372036854775807'])(
    'goes on for timeoutSeconds=%s, which is longer than a timer of Node.js',
    async (seconds) => {
      const { body } = await list();
      const since = meta(body)['resourceVersion'];
      const watch = await api.watch(`${MAPS}?watch=true&resourceVersion=${since}&timeoutSeconds=${seconds}`);
      await api.ask('POST', MAPS, { body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'long' } } });
      await api.ask('DELETE', `${MAPS}/long`);
      const events = await watch.take(2);
      watch.cancel();
      expect(told(events)).toEqual(['ADDED long', 'DELETED long']);
    },
  );

  it('ends without an error when the server stops, and after its timeout', async () => {
    const watch = await api.watch(
      `${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name=none`,
    );
    expect(await watch.next()).toBeUndefined();
  });

  it('sends table rows on request, with the columns in the first event only', async () => {
    const watch = await api.watch(`${MAPS}?watch=true&labelSelector=parity=even`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    const [first, second] = await watch.take(2);
    watch.cancel();
    expect((first!.object['columnDefinitions'] as JsonObject[]).map(({ name }) => name)).toEqual([
      'Name',
      'Data',
      'Age',
    ]);
    expect(second!.object['columnDefinitions']).toBeNull();
  });
});

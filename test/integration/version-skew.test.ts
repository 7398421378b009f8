import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../src/compose/start-server.js';
import { makeCertificates } from './certificates.js';
import { ControlPlane, eventually, type Member, proxyFlags } from './control-plane.js';
import { startEmbedded } from './embedded-server.js';
import { COMMON, FakeApiServer } from './fake-apiserver.js';
import { type Answer, type Ask, ask } from './https-client.js';
import { SharedStorage } from './shared-storage.js';
import { START_MS_MAX, StraddleProcess } from './straddle-process.js';

const PODS = '/api/v1/namespaces/default/pods';
const SELECTED = `${PODS}?fieldSelector=spec.new%3Dx`;
const NOT_SUPPORTED = { reason: 'BadRequest', code: 400, message: 'field label not supported: spec.new' };

/** Requests for pods that an API server has got, with their callers. */
const asked = (api: FakeApiServer): string[] =>
  api.requests.filter(({ url }) => url.startsWith(PODS)).map(({ method, user }) => `${method} ${user}`);

describe('two Straddles before API servers of different versions, of which the newer knows more field selectors,', () => {
  let plane: ControlPlane;
  let a: Member;
  let b: Member;
  const alice = { headers: { Authorization: 'Bearer alice-token' } };

  beforeAll(async () => {
    plane = new ControlPlane();
    const view = { 'version-view': 'oldest' };
    [a, b] = await Promise.all([
      plane.add('a', COMMON, {}, 'v1.36.4'),
      plane.add('b', COMMON, view, 'v1.37.1', ['spec.new']),
    ]);
    plane.storage.put(PODS, { kind: 'Pod', metadata: { name: 'p' } });
    await eventually(
      'the version of the newer server',
      () => plane.ask(a, SELECTED),
      ({ status }) => status === 200,
    );
  });
  afterAll(() => plane.close());

  it('answer a list, refused by the older server, from the newer one, as the caller', async () => {
    const from = [a, b].map(({ api }) => api.requests.length);
    const reply = await plane.ask(a, SELECTED, alice);
    expect(reply.status, reply.text).toBe(200);
    expect(plane.names(reply)).toEqual(['p']);
    expect([a, b].map(({ api }, i) => asked({ requests: api.requests.slice(from[i]) } as FakeApiServer))).toEqual([
      ['GET alice'],
      ['GET alice'],
    ]);
    const page = (await plane.ask(a, '/metrics')).text;
    expect(page).toMatch(/^straddle_unknown_options_total\{outcome="answered"\} [1-9]/m);
  });

  it('answer a watch from the newer server, event by event', async () => {
    const watch = plane.watch(a, `${SELECTED}&watch=1`);
    expect(await watch.opened).toBe(200);
    plane.storage.put(PODS, { kind: 'Pod', metadata: { name: 'w' } });
    await eventually(
      'the event',
      () => watch.events.length,
      (count) => count === 1,
    );
    watch.leave();
    plane.storage.remove(PODS, 'w');
  });

  it('reply with the refusal of the older server if both refuse', async () => {
    const before = asked(b.api).length;
    const reply = await plane.ask(a, `${PODS}?fieldSelector=spec.nosuch%3Dx`);
    expect(reply.json()).toMatchObject({ code: 400, message: 'field label not supported: spec.nosuch' });
    expect(asked(b.api)).toHaveLength(before + 1);
  });

  it('send no request to the newer server for a write, or for a request at the newer server', async () => {
    const before = [asked(a.api).length, asked(b.api).length];
    expect((await plane.ask(a, SELECTED, { method: 'DELETE' })).status).toBe(400);
    expect((await plane.ask(b, `${PODS}?fieldSelector=spec.nosuch%3Dx`)).status).toBe(400);
    expect([asked(a.api).length, asked(b.api).length]).toEqual([before[0]! + 1, before[1]! + 1]);
  });

  it('show the version of their own server, or with --version-view=oldest that of the oldest', async () => {
    expect((await plane.ask(a, '/version')).json()).toEqual({ gitVersion: 'v1.36.4' });
    expect((await plane.ask(b, '/version')).json()).toEqual({ gitVersion: 'v1.36.4' });
    const own = { headers: { 'x-kubernetes-peer-proxied': 'true' } };
    expect((await plane.ask(b, '/version', own)).json()).toEqual({ gitVersion: 'v1.37.1' });
  });

  it('refuse /version of another server to a caller that the local server refuses', async () => {
    const wrong = { headers: { Authorization: 'Bearer wrong' } };
    expect((await plane.ask(b, '/version', wrong)).status).toBe(401);
  });

  it('pass the refusal on with --reroute-unknown-options=false', async () => {
    const off = await plane.startStraddle('off', a.api, {
      'reroute-unknown-options': 'false',
      peer: `https://127.0.0.1:${b.api.port}`,
    });
    try {
      const page = () => plane.ask({ straddle: off }, '/readyz');
      await eventually('readiness', page, ({ status }) => status === 200);
      expect((await plane.ask({ straddle: off }, SELECTED)).json()).toMatchObject(NOT_SUPPORTED);
    } finally {
      await off.close();
    }
  });

  it('show the version of the next oldest server after the oldest went down', async () => {
    await a.api.stop();
    await eventually(
      'the newer version',
      async () => (await plane.ask(b, '/version')).text,
      (text) => text.includes('v1.37.1'),
    );
    await a.api.start();
    await eventually(
      'the older version',
      async () => (await plane.ask(b, '/version')).text,
      (text) => text.includes('v1.36.4'),
    );
  });
});

describe('Straddle in worker processes', () => {
  const certificates = makeCertificates();
  const storage = new SharedStorage();
  const older = new FakeApiServer(certificates, storage, COMMON, 'v1.36.4');
  const newer = new FakeApiServer(certificates, storage, COMMON, 'v1.37.1', ['spec.new']);
  let straddle: StraddleProcess;
  let port: number;

  beforeAll(async () => {
    await Promise.all([older.start(), newer.start()]);
    const flags = {
      workers: '2',
      'version-view': 'newest',
      peer: `https://127.0.0.1:${newer.port}`,
    };
    straddle = new StraddleProcess(proxyFlags(certificates, 'a', older, flags));
    port = await straddle.port();
  }, START_MS_MAX);
  afterAll(async () => {
    straddle.signal('SIGTERM');
    await straddle.exit;
    await Promise.all([older.stop(), newer.stop()]);
    certificates.remove();
  });

  it('asks a newer peer, and shows its version, from every worker', async () => {
    const send = (path: string): Promise<Answer> => ask({ port, ca: certificates.ca.pem }, path);
    for (let connection = 0; connection < 4; connection++) {
      await eventually(
        'the answer of the newer server',
        () => send(SELECTED),
        ({ status }) => status === 200,
      );
      expect((await send('/version')).json()).toEqual({ gitVersion: 'v1.37.1' });
    }
  });
});

describe('two embedded servers of different versions, of which the newer has a CRD with more selectable fields,', () => {
  const certificates = makeCertificates();
  const admin = certificates.user('admin', 'system:masters');
  const stores = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'straddle-skew-')));
  const GADGETS = '/apis/example.com/v1/namespaces/default/gadgets';
  let older: RunningServer;
  let newer: RunningServer;

  const send = ({ port }: RunningServer, path: string, options: Ask = {}): Promise<Answer> =>
    ask({ port, ca: certificates.ca.pem }, path, { as: admin, ...options });

  beforeAll(async () => {
    const patient = { 'peer-gone-after': '30s', 'peer-sources': '' };
    newer = await startEmbedded(certificates, stores[1]!, {
      ...patient,
      'server-name': 'b',
      'kubernetes-version': '1.37',
    });
    older = await startEmbedded(certificates, stores[0]!, {
      ...patient,
      'kubernetes-version': '1.36',
      'version-view': 'newest',
      peer: `https://127.0.0.1:${newer.port}`,
    });
    for (const [server, fields] of [
      [older, []],
      [newer, [{ jsonPath: '.spec.color' }]],
    ] as const) {
      const made = await send(server, CRDS, { method: 'POST', body: gadgets(fields) });
      expect(made.status, made.text).toBe(201);
      await eventually(
        'the resource',
        () => send(server, GADGETS),
        ({ status }) => status === 200,
      );
    }
    const body = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'red' }, spec: { color: 'red' } };
    expect((await send(newer, GADGETS, { method: 'POST', body })).status).toBe(201);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([older.close(), newer.close()]);
    for (const path of stores) rmSync(path, { recursive: true, force: true });
    certificates.remove();
  });

  it('answer a list, refused by the older server, from the newer one', async () => {
    const reply = await eventually(
      'the answer of the newer server',
      () => send(older, `${GADGETS}?fieldSelector=spec.color%3Dred`),
      ({ status }) => status === 200,
    );
    expect(reply.json<{ items: object[] }>().items).toHaveLength(1);
    const none = await send(older, `${GADGETS}?fieldSelector=spec.size%3Dred`);
    expect(none.json()).toMatchObject({ code: 400, message: 'field label not supported: spec.size' });
  });

  it('show the newest version with --version-view=newest', async () => {
    expect((await send(older, '/version')).text).toBe((await send(newer, '/version')).text);
    expect((await send(older, '/version')).json()).toMatchObject({ minor: '37' });
  });
});

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function gadgets(selectableFields: readonly object[]): object {
  const spec = { type: 'object', properties: { color: { type: 'string' } } };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    ...(selectableFields.length > 0 ? { selectableFields } : {}),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
      scope: 'Namespaced',
      versions: [version],
    },
  };
}

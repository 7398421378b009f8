import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGGREGATED, type Answer, ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';
import { type Ask, ask, sendRaw } from './https-client.js';
import { type CommandResult, runCommand } from './run-command.js';

const ALL = 'create delete get list patch update watch';
const SERVED = { ...COMMON, 'authentication.k8s.io/v1/selfsubjectreviews': 'create' };
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const GADGETS = '/apis/example.com/v1/namespaces/default/gadgets';
/** Served by both, until a test takes it from a. */
const SHARED = '/apis/example.com/v1/namespaces/default/shared';
const SWITCH = '/straddle/passthrough';
const ALICE = { authorization: 'Bearer alice-token' };
/** Time from the switch until it must be in effect for every request. */
const EFFECT_MS_MAX = 1_000;

const plane = new ControlPlane();
let a: Member;
let b: Member;
let file: string;

const get = (path: string, headers: Record<string, string> = {}) =>
  plane.ask(a, path, { headers: { ...ALICE, ...headers } });
const order = (body: unknown, as: Ask = { headers: ALICE }) => plane.ask(a, SWITCH, { ...as, method: 'POST', body });
const widgets = async () => (await get(`${WIDGETS}/w`)).status;

async function switchTo(on: boolean): Promise<void> {
  expect((await order({ on, reason: 'test' })).json()).toMatchObject({ on, notKept: null });
}

beforeAll(async () => {
  a = await plane.add('a', { ...SERVED, 'example.com/v1/gadgets': ALL, 'example.com/v1/shared': ALL });
  b = await plane.add('b', { ...SERVED, 'example.com/v1/widgets': ALL, 'example.com/v1/shared': ALL }, {}, 'v1.37.0');
  file = join(plane.certificates.directory, 'a', 'passthrough');
  plane.storage.put(WIDGETS, { metadata: { name: 'w', namespace: 'default' } });
  plane.storage.put(GADGETS, { metadata: { name: 'g', namespace: 'default' } });
  plane.storage.put(SHARED, { metadata: { name: 's', namespace: 'default' } });
  plane.storage.put(CONFIGMAPS, { metadata: { name: 'fixed', namespace: 'default' } });
  await eventually('a sees what b serves', widgets, (status) => status === 200);
  await eventually(
    'b sees what a serves',
    async () => (await plane.ask(b, `${GADGETS}/g`, { headers: ALICE })).status,
    (status) => status === 200,
  );
}, 60_000);

afterAll(() => plane.close(), 30_000);

/** Fields of a connection, not of the reply; and the time. */
const NOT_COMPARED = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

function comparable({ status, headers, raw }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !NOT_COMPARED.has(name));
  return { status, headers: Object.fromEntries(kept), raw: raw.toString('latin1') };
}

/** One request after the other, on kept connections, until `stop`. */
class Load {
  readonly seen: {
    readonly kind: string;
    readonly status: number;
    readonly beganMs: number;
    readonly endedMs: number;
  }[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor() {
    this.#running = [
      this.#loop('read', () => this.#ask(`${CONFIGMAPS}/fixed`)),
      this.#loop('list', () => this.#ask(CONFIGMAPS)),
      this.#loop('write', (turn) => this.#write(turn)),
      this.#loop('peer', () => this.#ask(`${WIDGETS}/w`)),
      this.#loop('discovery', () => this.#ask('/apis', { headers: { accept: AGGREGATED } })),
    ];
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  count(kind: string): number {
    return this.seen.filter((each) => each.kind === kind).length;
  }

  #ask(path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<number> {
    const asking = { method, headers: { ...ALICE, ...headers }, agent: this.#agent, ...(body ? { body } : {}) };
    return plane.ask(a, path, asking).then(({ status }) => status);
  }

  /** A new object on even turns, which is deleted on odd ones. */
  #write(turn: number): Promise<number> {
    const name = `written-${turn >> 1}`;
    if (turn % 2 === 1) return this.#ask(`${CONFIGMAPS}/${name}`, { method: 'DELETE' });
    return this.#ask(CONFIGMAPS, { method: 'POST', body: { metadata: { name } } });
  }

  async #loop(kind: string, send: (turn: number) => Promise<number>): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const beganMs = performance.now();
      const status = await send(turn).catch(() => 0);
      this.seen.push({ kind, status, beganMs, endedMs: performance.now() });
    }
  }
}

describe('passthrough under load', () => {
  const load = { current: undefined as unknown as Load };
  /** The wanted state from each moment on. */
  const switches: { readonly atMs: number; readonly on: boolean }[] = [];

  beforeAll(async () => {
    load.current = new Load();
    await eventually(
      'the load',
      () => load.current.count('peer'),
      (count) => count > 20,
    );
    for (const way of ['order', 'file', 'order', 'file']) {
      for (const on of [true, false]) {
        const atMs = performance.now();
        switches.push({ atMs, on });
        if (way === 'order') await switchTo(on);
        else if (on) writeFileSync(file, 'by hand');
        else rmSync(file);
        const before = load.current.seen.length;
        const later = () => load.current.seen.slice(before).filter(({ kind }) => kind === 'peer');
        const wanted = on ? 404 : 200;
        await eventually('the effect', later, (seen) => seen.filter(({ status }) => status === wanted).length > 20);
      }
    }
    await load.current.stop();
  }, 60_000);

  it('has no failed request at any switch', () => {
    const good: Record<string, readonly number[]> = {
      read: [200],
      list: [200],
      write: [200, 201],
      peer: [200, 404],
      discovery: [200],
    };
    const { seen } = load.current;
    expect(seen.filter(({ kind, status }) => !good[kind]!.includes(status))).toEqual([]);
    for (const kind of Object.keys(good)) expect(load.current.count(kind)).toBeGreaterThan(100);
  });

  it('takes effect for every request that begins a second later, on and off', () => {
    const wrong = switches.flatMap(({ atMs, on }, index) => {
      const untilMs = switches[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
      return load.current.seen.filter(
        ({ kind, status, beganMs, endedMs }) =>
          kind === 'peer' && beganMs > atMs + EFFECT_MS_MAX && endedMs < untilMs && status !== (on ? 404 : 200),
      );
    });
    expect(wrong).toEqual([]);
    const effects = switches.map(({ atMs, on }) => {
      const first = load.current.seen.find(
        ({ kind, status, endedMs }) => kind === 'peer' && endedMs > atMs && status === (on ? 404 : 200),
      );
      return first!.endedMs - atMs;
    });
    expect(Math.max(...effects)).toBeLessThan(EFFECT_MS_MAX);
  });

  it('is logged at each switch', () => {
    const lines = a.log.filter(({ msg }) => /^passthrough is (on|off)/.test(msg));
    expect(lines.map(({ level }) => level)).toEqual(Array(8).fill('warn'));
    expect(lines.filter(({ by }) => by === 'alice')).toHaveLength(4);
    expect(lines.filter(({ by }) => by === `file ${file}`)).toHaveLength(4);
  });
});

describe('passthrough that is on', () => {
  beforeAll(() => switchTo(true));
  afterAll(() => switchTo(false));

  it.each([
    ['an object', `${CONFIGMAPS}/fixed`, {}],
    ['an object that is missing', `${CONFIGMAPS}/missing`, {}],
    ['a resource of a peer', `${WIDGETS}/w`, {}],
    ['aggregated discovery', '/apis', { accept: AGGREGATED }],
    ['aggregated discovery of the core', '/api', { accept: AGGREGATED }],
    ['discovery of a group', '/apis/example.com/v1', {}],
    ['the merged document', '/apis/apidiscovery.k8s.io/v2', {}],
    ['OpenAPI', '/openapi/v3', {}],
    ['the version', '/version', {}],
    ['an option', `${CONFIGMAPS}?fieldSelector=spec.unheard=1`, {}],
  ])('answers %s with the bytes of the local server', async (_, path, headers) => {
    const sent = { headers: { ...ALICE, ...(headers as Record<string, string>) } };
    const [through, straight] = [
      await plane.ask(a, path, sent),
      await ask({ port: a.api.port, ca: plane.certificates.ca.pem }, path, sent),
    ];
    expect(comparable(through)).toEqual(comparable(straight));
  });

  it('serves peers that have not switched', async () => {
    expect((await plane.ask(b, `${GADGETS}/g`, { headers: ALICE })).status).toBe(200);
    expect((await get(`${GADGETS}/g`)).status).toBe(200);
  });

  it('is visible in /readyz?verbose, which everybody may read, and only there', async () => {
    const readyz = async (member: Member, query = '') => (await plane.ask(member, `/readyz${query}`)).text;
    expect(await readyz(a, '?verbose')).toMatch(/^\[\+\]passthrough ok$/m);
    expect(await readyz(b, '?verbose')).not.toContain('passthrough');
    expect(await readyz(a)).toBe('ok');
  });

  it('is visible in the metrics', async () => {
    const { text } = await get('/metrics');
    expect(text).toMatch(/^straddle_passthrough 1$/m);
    expect(Number(/^straddle_passthrough_since_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(
      Date.now() / 1_000 - 60,
    );
    expect((await plane.ask(b, '/metrics', { headers: ALICE })).text).toMatch(/^straddle_passthrough 0$/m);
  });

  it('ends identities and spoofed headers as before', async () => {
    const spoofed = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
    expect((await get(`${CONFIGMAPS}/fixed`, spoofed)).status).toBe(200);
    const seen = a.api.seen('GET', `${CONFIGMAPS}/fixed`).at(-1)!;
    expect(seen.user).toBe('alice');
    expect(seen.headers['x-remote-user']).toBeUndefined();
  });

  it('answers 503 and is not ready while the local server is down, and reroutes again once it is off', async () => {
    await a.api.stop();
    const refused = await get(`${CONFIGMAPS}/fixed`);
    expect(refused.status).toBe(503);
    expect(refused.json()).toMatchObject({ kind: 'Status', message: expect.stringContaining('connection refused') });
    expect((await get('/readyz')).text).toContain('the local API server takes no requests, and passthrough is on');
    await switchTo(false);
    expect((await get(`${CONFIGMAPS}/fixed`)).status).toBe(200);
    await a.api.start();
    await eventually(
      'the local server',
      async () => (await get('/readyz')).status,
      (status) => status === 200,
    );
    await switchTo(true);
  });

  it('leaves no stale surface: a server restarted meanwhile is read before it is routed to again', async () => {
    const status = async (path: string) => (await get(path)).status;
    await a.api.stop();
    await eventually(
      'a without its server',
      () => status('/readyz'),
      (found) => found === 503,
    );
    const { 'example.com/v1/shared': _, ...older } = a.api.served;
    a.api.served = older;
    await a.api.start();
    a.api.mode = 'undiscovered';
    await eventually(
      'the local server',
      () => status('/readyz'),
      (found) => found === 200,
    );
    expect(await status(`${SHARED}/s`)).toBe(404);
    await switchTo(false);
    expect(await status(`${SHARED}/s`)).toBe(200);
    const hostReady = async () => /^straddle_host_ready (\d)$/m.exec((await get('/metrics')).text)?.[1];
    expect(await hostReady()).toBe('0');
    a.api.mode = 'up';
    await eventually('discovery', hostReady, (ready) => ready === '1');
    expect(await status(`${SHARED}/s`)).toBe(200);
    await switchTo(true);
  });

  it('is on from the first request after a restart', async () => {
    await a.straddle.close();
    a.straddle = await plane.startStraddle('a', a.api, {}, a.log);
    expect(await widgets()).toBe(404);
    expect((await get('/metrics')).text).toMatch(/^straddle_passthrough 1$/m);
    await switchTo(false);
    await eventually('the peer', widgets, (status) => status === 200);
    await switchTo(true);
  });
});

describe('requests on their way at the switch', () => {
  it('finish at the peer that has them', async () => {
    const { pem, keyPem } = plane.certificates.user('alice');
    const sending = request({
      ...{ host: '127.0.0.1', port: a.straddle.port, ca: plane.certificates.ca.pem, cert: pem, key: keyPem },
      ...{ path: WIDGETS, method: 'POST', headers: { 'Content-Type': 'application/json' }, agent: false },
    });
    const answered = new Promise<number>((resolve, reject) => {
      sending.on('response', (res) => resolve(res.resume().statusCode!)).on('error', reject);
    });
    sending.write('{"metadata":');
    await eventually(
      'the peer having it',
      () => b.api.seen('POST', WIDGETS).length,
      (count) => count === 1,
    );
    await switchTo(true);
    expect(await widgets()).toBe(404);
    sending.end('{"name":"half"}}');
    expect(await answered).toBe(201);
    await switchTo(false);
  });

  it('are watches that go on until they end by themselves, and are not continued elsewhere', async () => {
    const watching = await plane.watch(a, `${WIDGETS}?watch=1&resourceVersion=${plane.storage.revision}`);
    expect(await watching.opened).toBe(200);
    const added = (name: string) => {
      plane.storage.put(WIDGETS, { metadata: { name, namespace: 'default' } });
      return eventually(
        `the event of ${name}`,
        () => watching.events.map(({ object }) => object.metadata.name),
        (names) => names.includes(name),
      );
    };
    await added('before');
    await switchTo(true);
    await added('after');
    await b.api.stop();
    expect(await watching.ended).toBe(true);
    await b.api.start();
    await switchTo(false);
    await eventually('the peer', widgets, (status) => status === 200);
  });
});

describe('the path of the switch', () => {
  it.each([
    ['an anonymous caller', {}, 401],
    ['Basic credentials', { headers: { authorization: 'Basic dTpw' } }, 401],
    ['a token that nobody knows', { headers: { authorization: 'Bearer wrong' } }, 401],
    ['a caller without the right', { headers: { authorization: 'Bearer nobody-token' } }, 403],
    ['an anonymous caller who claims to be a peer', { headers: { 'x-kubernetes-peer-proxied': 'true' } }, 401],
  ] as [string, Ask, number][])('refuses %s', async (_, as, status) => {
    expect((await order({ on: true }, as)).status).toBe(status);
    expect((await plane.ask(a, SWITCH, as)).status).toBe(status);
    expect(await widgets()).toBe(200);
    expect(existsSync(file)).toBe(false);
  });

  it('takes a client certificate, and tells its state', async () => {
    const as = plane.certificates.user('jane', 'system:masters');
    const { status, json } = await plane.ask(a, SWITCH, { as });
    expect(status).toBe(200);
    expect(json()).toMatchObject({ kind: 'StraddlePassthrough', server: 'a', on: false, file, notKept: null });
  });

  it('refuses bodies that are endless or large, and serves others meanwhile', async () => {
    const where = { port: a.straddle.port, ca: plane.certificates.ca.pem };
    const head = `POST ${SWITCH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\nContent-Type: application/json\r\n`;
    const endless = sendRaw(
      where,
      `${head}Transfer-Encoding: chunked\r\n\r\n${`400\r\n${' '.repeat(1024)}\r\n`.repeat(64)}`,
    );
    const large = sendRaw(where, `${head}Content-Length: 1000000000\r\n\r\n{`);
    expect(await widgets()).toBe(200);
    expect(await endless).toMatch(/^HTTP\/1\.1 413 /);
    expect(await large).toMatch(/^HTTP\/1\.1 413 /);
    expect(await widgets()).toBe(200);
  });

  it('names the file where no API server can judge', async () => {
    await Promise.all([a.api.stop(), b.api.stop()]);
    const refused = await order({ on: true });
    expect(refused.status).toBe(503);
    expect(refused.json()).toMatchObject({ message: expect.stringContaining(`make the file ${file} on this machine`) });
    writeFileSync(file, 'the API is down');
    await eventually(
      'the file',
      async () => (await get('/readyz')).text,
      (text) => text.includes('passthrough is on'),
    );
    rmSync(file);
    await Promise.all([a.api.start(), b.api.start()]);
    await eventually('both servers', widgets, (status) => status === 200);
  });
});

describe('straddle passthrough', () => {
  function run(...argv: string[]): Promise<CommandResult> {
    const { certificates } = plane;
    const jane = certificates.user('jane', 'system:masters');
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const user = { 'client-certificate-data': base64(jane.pem), 'client-key-data': base64(jane.keyPem) };
    const cluster = {
      server: `https://127.0.0.1:${a.straddle.port}`,
      'certificate-authority-data': base64(certificates.ca.pem),
    };
    const kubeconfig = certificates.write(
      'kubeconfig',
      JSON.stringify({
        kind: 'Config',
        'current-context': 'x',
        clusters: [{ name: 'x', cluster }],
        users: [{ name: 'x', user }],
        contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      }),
    );
    return runCommand(certificates.directory, ['passthrough', ...argv, `--kubeconfig=${kubeconfig}`]);
  }

  it('switches both servers on and off, with a line and an effect for each', async () => {
    mkdirSync(join(plane.certificates.directory, 'a'), { recursive: true });
    const bothOf = async () => [await widgets(), (await plane.ask(b, `${GADGETS}/g`, { headers: ALICE })).status];
    await eventually('both servers', bothOf, (statuses) => statuses.every((each) => each === 200));
    const on = await run('on', '--reason=trial');
    expect(on).toMatchObject({ code: 0, err: '' });
    expect(on.out).toMatch(
      /^a \(127\.0\.0\.1:\d+\): on since \S+Z \(trial\)\nb \(127\.0\.0\.1:\d+\): on since \S+Z \(trial\)\n$/,
    );
    expect(await bothOf()).toEqual([404, 404]);
    expect((await run('off', '--server=b')).out).toMatch(/^b \(127\.0\.0\.1:\d+\): off\n$/);
    expect(await bothOf()).toEqual([404, 200]);
    expect((await run('status')).out).toMatch(/^a .*: on since .*\nb .*: off\n$/);
    expect(await run('off')).toMatchObject({ code: 0 });
    expect(await bothOf()).toEqual([200, 200]);
  });
});

import { type ClientHttp2Session, connect } from 'node:http2';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/proxy/page/page-state.js';
import { ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const ALL = 'create delete get list patch update watch';
const SERVED = { ...COMMON, 'authentication.k8s.io/v1/selfsubjectreviews': 'create' };
const WIDGET = '/apis/example.com/v1/namespaces/default/widgets/secret-name';
const ALICE = { authorization: 'Bearer alice-token', 'user-agent': 'kubectl/v1.36.4 (linux/amd64) kubernetes/abc' };
const STATE = '/straddle/api/v1/state';
const STREAM = '/straddle/api/v1/stream';

interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

/** The events of a stream as they arrive, over one of the two protocols. */
interface OpenStream {
  readonly events: StreamEvent[];
  readonly status: Promise<number>;
  /** Resolves with whether the server ended it in order. */
  readonly ended: Promise<boolean>;
  leave(): void;
}

let plane: ControlPlane;
let a: Member;
let b: Member;

function collect(events: StreamEvent[]): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const parts = (rest + chunk.toString()).split('\n\n');
    rest = parts.pop()!;
    for (const part of parts) {
      const event = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) });
    }
  };
}

function overHttp1({ straddle }: Member): OpenStream {
  const events: StreamEvent[] = [];
  const sent = request({
    ...{ host: '127.0.0.1', port: straddle.port, ca: plane.certificates.ca.pem, agent: false },
    ...{ path: STREAM, headers: ALICE },
  });
  const status = new Promise<number>((resolve) => sent.on('response', ({ statusCode }) => resolve(statusCode!)));
  const ended = new Promise<boolean>((resolve) => {
    sent.on('error', () => resolve(false));
    sent.on('response', (reply) => {
      reply.on('data', collect(events));
      reply.on('error', () => resolve(false));
      reply.on('close', () => resolve(reply.complete));
    });
  });
  sent.end();
  return { events, status, ended, leave: () => sent.destroy() };
}

function overHttp2({ straddle }: Member): OpenStream {
  const events: StreamEvent[] = [];
  const session: ClientHttp2Session = connect(`https://127.0.0.1:${straddle.port}`, {
    ca: plane.certificates.ca.pem,
  });
  const stream = session.request({ ':path': STREAM, ...ALICE });
  const status = new Promise<number>((resolve) => stream.on('response', (head) => resolve(Number(head[':status']))));
  const ended = new Promise<boolean>((resolve) => {
    session.on('error', () => resolve(false));
    stream.on('error', () => resolve(false));
    stream.on('data', collect(events));
    stream.on('end', () => resolve(true));
    stream.on('close', () => session.close());
  });
  stream.end();
  return { events, status, ended, leave: () => session.destroy() };
}

async function state(member: Member): Promise<PageState> {
  const answer = await plane.ask(member, STATE, { headers: ALICE });
  expect(answer.status).toBe(200);
  return answer.json<PageState & Record<string, unknown>>();
}

beforeAll(async () => {
  plane = new ControlPlane();
  plane.storage.put('/apis/example.com/v1/namespaces/default/widgets', { metadata: { name: 'secret-name' } });
  a = await plane.add('cp-1', SERVED);
  b = await plane.add('cp-2', { ...SERVED, 'example.com/v1/widgets': ALL }, {}, 'v1.37.1');
  await eventually(
    'the peers',
    async () => (await plane.ask(a, WIDGET, { headers: ALICE })).status,
    (status) => status === 200,
  );
}, 30_000);
afterAll(() => plane.close());

describe('page through a real listener', () => {
  it('has the whole state: servers, who reaches whom, skew, flow, timeline, clients, checks', async () => {
    await plane.ask(a, `${WIDGET}?pretty=hidden-query`, { headers: ALICE });
    const found = await eventually(
      'both servers as each sees the other',
      () => state(a),
      ({ reach, servers }) =>
        reach.every(({ reaches }) => reaches === true) && servers.every((s) => s.state === 'ready'),
    );
    expect(found).toMatchObject({ kind: 'StraddleState', formatVersion: 1, server: 'cp-1', product: 'sidecar' });
    expect(found.servers.map(({ name, version, isThis }) => [name, version, isThis])).toEqual([
      ['cp-1', 'v1.36.4', true],
      ['cp-2', 'v1.37.1', false],
    ]);
    expect(found.servers.every(({ certificateExpiresAtMs }) => certificateExpiresAtMs !== null)).toBe(true);
    expect(found.servers.every(({ leaseRenewedAtMs }) => leaseRenewedAtMs !== null)).toBe(true);
    expect(found.reach).toEqual([
      { from: 'cp-1', to: 'cp-2', reaches: true },
      { from: 'cp-2', to: 'cp-1', reaches: true },
    ]);
    expect(found.skew.servers).toEqual(['cp-1', 'cp-2']);
    expect(found.skew.rows.map(({ name, cells }) => [name, ...cells])).toEqual([
      ['widgets.v1.example.com', 'rerouted', 'served'],
    ]);
    expect(found.flow.recent.find(({ resource }) => resource === 'widgets.v1.example.com')).toMatchObject({
      arrivedAt: 'cp-1',
      answeredBy: 'cp-2',
      verb: 'get',
      status: 200,
      why: 'only peers serve it',
      kind: 'rerouted',
    });
    expect(found.flow.totals.prevented404).toBeGreaterThanOrEqual(2);
    expect(found.clients.rows[0]).toMatchObject({ name: 'kubectl', version: 'v1.36.4' });
    expect(found.verdict).toMatchObject({ may: 'no' });
    expect(found.verdict.sentence).toMatch(
      /^1 of 2 servers on 1\.37, all protected, \d+ wrong 404s prevented here; not now: only cp-2 serves widgets/,
    );
    expect(found.verdict.reasons.at(-1)).toMatchObject({ remedy: 'straddle gate', isCommand: true });
    expect(found.timeline.lanes.map(({ server }) => server)).toEqual(['cp-1', 'cp-2']);
    expect(JSON.stringify(found)).not.toMatch(/secret-name|hidden-query|alice/);
  });

  it('is readable without JavaScript, under a strict policy', async () => {
    const page = await plane.ask(a, '/straddle/', { headers: ALICE });
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.text).toContain('only cp-2 serves widgets.v1.example.com');
    expect(page.text).toContain('<th scope="row">cp-2</th><td>v1.37.1</td>');
    expect(page.text).not.toMatch(/<script(?![^>]*src=)|<style|style=|onclick|https?:/);
    const moved = await plane.ask(a, '/straddle');
    expect([moved.status, moved.headers['location']]).toEqual([308, '/straddle/']);
  });

  it.each([
    ['/straddle/', {}, 401],
    [STATE, {}, 401],
    [STREAM, {}, 401],
    ['/straddle/api/v1/reach', {}, 401],
    [STATE, { authorization: 'Bearer nobody-token' }, 403],
    [STREAM, { authorization: 'Bearer nobody-token' }, 403],
    [STATE, { authorization: 'Bearer made-up' }, 401],
    ['/straddle/assets/nothing.js', {}, 404],
    ['/straddle/assets/../api/v1/state', {}, 404],
  ])('answers %s with %o by %i', async (path, headers, status) => {
    expect((await plane.ask(a, path, { headers })).status).toBe(status);
  });

  it.each([
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ])('streams the state, then requests as they come, over %s', async (_, open) => {
    const stream = open(a);
    expect(await stream.status).toBe(200);
    await eventually(
      'the state',
      () => stream.events[0]?.event,
      (first) => first === 'state',
    );
    await plane.ask(a, WIDGET, { headers: { ...ALICE, 'user-agent': 'streamed/v1' } });
    await eventually(
      'the request in the stream',
      () => stream.events.filter(({ event }) => event === 'flow').map(({ data }) => JSON.stringify(data)),
      (texts) => texts.some((text) => text.includes('streamed/v1')),
    );
    expect((await plane.ask(a, '/metrics', { headers: ALICE })).text).toContain('straddle_page_streams 1');
    stream.leave();
    await eventually(
      'the end of the stream',
      async () => (await plane.ask(a, '/metrics', { headers: ALICE })).text,
      (text) => text.includes('straddle_page_streams 0'),
    );
  });

  it('shows a server that is killed, and when it is back as another version', async () => {
    await b.straddle.close();
    await b.api.stop();
    const away = await eventually(
      'the server away',
      () => state(a),
      ({ servers }) => servers.some(({ name, state: each }) => name === 'cp-2' && each !== 'ready'),
    );
    expect(away.verdict.may).toBe('no');
    await eventually(
      'its APIs held back',
      async () => [(await plane.ask(a, WIDGET, { headers: ALICE })).status, (await state(a)).flow.totals.held503],
      ([status, held]) => status === 503 && held! > 0,
    );
    b.api.version = 'v1.38.0';
    await b.api.start();
    b.straddle = await plane.startStraddle('cp-2', b.api);
    const back = await eventually(
      'the server back',
      () => state(a),
      ({ servers }) =>
        servers.some(({ name, state: each, version }) => name === 'cp-2' && each === 'ready' && version === 'v1.38.0'),
    );
    expect(back.timeline.events.map(({ kind, server }) => `${server} ${kind}`)).toContain('cp-2 left');
    expect(back.timeline.events.map(({ text }) => text)).toContain('cp-2 came back as v1.38.0 (was v1.37.1)');
    expect(back.timeline.longestGap).toMatchObject({ server: 'cp-2' });
  }, 30_000);

  it('ends open streams in order when the server stops', async () => {
    const streams = [overHttp1(b), overHttp2(b)];
    await eventually(
      'both streams',
      () => streams.map(({ events }) => events.length),
      (all) => all.every((n) => n > 0),
    );
    await b.straddle.close();
    // Those that the stop had to cut off after its grace would not end in order.
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual([true, true]);
    b.straddle = await plane.startStraddle('cp-2', b.api);
  });

  it('streams over the HTTP/2 server of Node.js too, and ends there in order', async () => {
    const straddle = await plane.startStraddle('cp-3', a.api, { 'http2-server': 'node' });
    const stream = overHttp2({ ...a, straddle });
    await eventually(
      'more than the first event',
      () => stream.events.length,
      (events) => events > 1,
    );
    await straddle.close();
    expect(await stream.ended).toBe(true);
  });
});

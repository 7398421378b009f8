import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SentEvent, WATCH_ENCODINGS, type WatchEncoding } from '../../src/proxy/routing/watch-events.fixture.js';
import { ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const NEW = { ...COMMON, 'scheduling.io/v1/podgroups': 'create delete get list patch update watch' };
const PODGROUPS = '/apis/scheduling.io/v1/namespaces/default/podgroups';

let plane: ControlPlane;
let a: Member;
let b: Member;
let c: Member;

beforeAll(async () => {
  plane = new ControlPlane();
  // Nobody departs here, however busy the machine is.
  const patient = { 'peer-gone-after': '60s' };
  a = await plane.add('a', COMMON, patient);
  b = await plane.add('b', NEW, patient);
  c = await plane.add('c', NEW, patient);
  await eventually(
    'both peers',
    () => plane.ask(a, '/metrics', { as: plane.certificates.user('admin') }),
    ({ text }) => ['b', 'c'].every((peer) => text.includes(`straddle_surface_age_seconds{server="${peer}"`)),
  );
});

afterAll(() => plane.close());

/** A watch as Go clients open it: in one encoding, and gzip is accepted. */
class GoWatch {
  readonly #encoding: WatchEncoding;
  readonly #expected: SentEvent[] = [];
  readonly #chunks: Buffer[] = [];
  #response: IncomingMessage | undefined;
  #outcome = 'open';
  readonly #leave: () => void;

  constructor(encoding: WatchEncoding, query: string) {
    this.#encoding = encoding;
    const asked = request({
      ...{ host: '127.0.0.1', port: a.straddle.port, ca: plane.certificates.ca.pem, agent: false },
      path: `${PODGROUPS}?watch=1&allowWatchBookmarks=true&${query}`,
      headers: { Accept: encoding.contentType, 'Accept-Encoding': 'gzip' },
    });
    asked.on('error', () => {
      this.#outcome = 'cut';
    });
    asked.on('response', (response) => {
      this.#response = response;
      response.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
      response.on('error', () => {});
      response.on('close', () => {
        this.#outcome = response.complete ? 'ended' : 'cut';
      });
    });
    asked.end();
    this.#leave = () => asked.destroy();
  }

  get opened(): boolean {
    return this.#response !== undefined;
  }

  expect(...events: SentEvent[]): void {
    this.#expected.push(...events);
  }

  async hasAll(what: string): Promise<void> {
    const expected = Buffer.concat(this.#expected.map((event) => this.#encoding.encode(event)));
    await eventually(
      `${what}, ${this.#encoding.name}`,
      () => this.#chunks.reduce((sum, { length }) => sum + length, 0),
      (length) => length >= expected.length || this.#outcome !== 'open',
      15_000,
    );
    expect(this.#outcome).toBe('open');
    expect(Buffer.concat(this.#chunks).equals(expected)).toBe(true);
    expect(this.#response!.headers).toMatchObject({ 'content-type': this.#encoding.contentType });
    expect(this.#response!.headers['content-encoding']).toBeUndefined();
  }

  leave(): void {
    this.#leave();
  }
}

describe.each([
  ['from a resourceVersion', () => `resourceVersion=${plane.storage.revision}`],
  ['with initial events', () => 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'],
])('a watch of a client that accepts gzip, %s', (kind, query) => {
  it('continues when servers are killed, in JSON, protobuf and CBOR: every event once, no second request', async () => {
    const watches = WATCH_ENCODINGS.map((encoding) => new GoWatch(encoding, query()));
    if (kind === 'with initial events') {
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const metadata = { resourceVersion: String(plane.storage.revision), annotations };
      const state = plane.storage.list(PODGROUPS).map((object) => ({ type: 'ADDED', object }));
      for (const watch of watches) watch.expect(...state, { type: 'BOOKMARK', object: { metadata } });
    }
    await eventually(
      'the heads of the answers',
      () => watches.filter(({ opened }) => opened).length,
      (count) => count === watches.length,
    );
    const put = (name: string) => {
      const object = plane.storage.put(PODGROUPS, { metadata: { name: `${name}-${kind.replaceAll(' ', '-')}` } });
      for (const watch of watches) watch.expect({ type: 'ADDED', object });
    };
    put('first');
    for (const watch of watches) await watch.hasAll('the first event');

    await b.api.stop();
    for (let i = 0; i < 5; i++) put(`without-b-${i}`);
    for (const watch of watches) await watch.hasAll('the events after B was killed');

    await b.api.start();
    await c.api.stop();
    for (let i = 0; i < 5; i++) put(`without-c-${i}`);
    for (const watch of watches) await watch.hasAll('the events after C was killed');
    for (const watch of watches) watch.leave();
    await c.api.start();
  });
});

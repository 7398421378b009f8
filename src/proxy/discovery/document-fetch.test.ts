import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { BodyStream } from '../../http/body-stream.js';
import type { Reply } from '../../http/exchange.js';
import { DocumentFetcher, FETCH_LIMITS } from './document-fetch.js';

const JSON_TYPE = ['Content-Type', 'application/json; charset=utf-8'];
const REQUEST = { server: 'b', target: '/openapi/v2', headers: [], mediaTypes: ['application/json'] };

function setup(send: () => Promise<Reply>) {
  const clock = new ManualClock();
  const faults: string[] = [];
  let asked = 0;
  const fetcher = new DocumentFetcher({
    send: () => {
      asked++;
      return send();
    },
    clock,
    logger: silentLogger,
    onFault: (server, fault) => faults.push(`${server} ${fault}`),
  });
  return { clock, faults, fetcher, asked: () => asked };
}

function streaming(): { body: BodyStream; cancelled: () => boolean } {
  let cancelled = false;
  const body = new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => (cancelled = true) });
  return { body, cancelled: () => cancelled };
}

describe('DocumentFetcher', () => {
  it('returns a document once it is complete', async () => {
    const { body } = streaming();
    const { fetcher } = setup(async () => ({ status: 200, headers: JSON_TYPE, body }));
    const fetched = fetcher.fetch(REQUEST);
    body.push(Buffer.from('{"a"'));
    await settle();
    body.push(Buffer.from(':1}'));
    body.end();
    expect((await fetched).body.toString()).toBe('{"a":1}');
  });

  it.each<[string, () => Reply]>([
    ['status', () => ({ status: 500, headers: JSON_TYPE, body: Buffer.from('x') })],
    ['content-type', () => ({ status: 200, headers: ['Content-Type', 'text/html'], body: Buffer.from('<html>') })],
    ['content-type', () => ({ status: 200, headers: [], body: Buffer.from('{}') })],
    ['truncated', () => ({ status: 200, headers: [...JSON_TYPE, 'Content-Length', '9'], body: Buffer.from('{}') })],
    [
      'too-large',
      () => ({ status: 200, headers: [...JSON_TYPE, 'Content-Length', '50000000'], body: streaming().body }),
    ],
  ])('rejects for a wrong reply: %s', async (fault, reply) => {
    const { fetcher, faults } = setup(async () => reply());
    await expect(fetcher.fetch(REQUEST)).rejects.toMatchObject({ fault });
    expect(faults).toEqual([`b ${fault}`]);
  });

  it('stops reading a document of unannounced length at the bound', async () => {
    const { body, cancelled } = streaming();
    const { fetcher, faults } = setup(async () => ({ status: 200, headers: JSON_TYPE, body }));
    const fetched = fetcher.fetch(REQUEST).catch((error) => error);
    await settle();
    const chunk = Buffer.alloc(1024 * 1024);
    for (let i = 0; i < 50 && !cancelled(); i++) body.push(chunk);
    expect(await fetched).toMatchObject({ fault: 'too-large' });
    expect(cancelled()).toBe(true);
    expect(faults).toEqual(['b too-large']);
  });

  it('rejects for a body that is cut off by a connection reset', async () => {
    const { body } = streaming();
    const { fetcher } = setup(async () => ({ status: 200, headers: JSON_TYPE, body }));
    const fetched = fetcher.fetch(REQUEST).catch((error) => error);
    body.push(Buffer.from('{"a":'));
    body.fail(new Error('connection reset'));
    expect(await fetched).toMatchObject({ fault: 'truncated', message: 'connection reset' });
  });

  it('waits once for a server that hangs, in head or body, then sends it no request for a while', async () => {
    const { body, cancelled } = streaming();
    for (const send of [() => new Promise<Reply>(() => {}), async () => ({ status: 200, headers: JSON_TYPE, body })]) {
      const { clock, fetcher, faults, asked } = setup(send);
      const fetched = fetcher.fetch(REQUEST).catch((error) => error);
      await clock.advance(FETCH_LIMITS.timeoutMs);
      expect(await fetched).toMatchObject({ fault: 'timeout' });
      await expect(fetcher.fetch(REQUEST)).rejects.toMatchObject({ fault: 'resting' });
      expect([asked(), faults]).toEqual([1, ['b timeout']]);
      await clock.advance(FETCH_LIMITS.restMs);
      fetcher.fetch(REQUEST).catch(() => undefined);
      expect(asked()).toBe(2);
    }
    expect(cancelled()).toBe(true);
  });

  it('returns 304 and 404 as answers', async () => {
    const { fetcher, faults } = setup(async () => ({ status: 404, headers: [], body: Buffer.from('not found') }));
    expect((await fetcher.fetch(REQUEST)).status).toBe(404);
    expect(faults).toEqual([]);
  });
});

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../http/attempt-error.js';
import type { Reply } from '../../http/exchange.js';
import { createLocalOnly } from './local-only.js';
import { answer, ask, UNKNOWN } from './routing.fixture.js';

/** A host that gives these answers in turn, the last one again and again. */
function localOnly(...answers: readonly (Reply | AttemptError)[]) {
  let sent = 0;
  const handler = createLocalOnly({
    readsBodies: false,
    handle: async () => {
      const next = answers[Math.min(sent++, answers.length - 1)]!;
      if (next instanceof AttemptError) throw next;
      return next;
    },
  });
  return { handler, sent: () => sent };
}

const refused = new AttemptError('unsent', 'connect', '10.0.0.1:6443: connection refused');
const reset = new AttemptError('maybe', 'reset', '10.0.0.1:6443: connection reset');

describe('local-only handler', () => {
  it.each([
    ['a 404 for a resource that is not served', UNKNOWN],
    ['a 503', answer(503)],
    ['a 200', answer(200)],
  ])('returns %s as it is', async (_, reply) => {
    const { handler, sent } = localOnly(reply);
    const exchange = ask('GET', '/apis/batch/v1/jobs');
    expect(await handler(exchange)).toBe(reply);
    expect(sent()).toBe(1);
    expect(exchange.routed).toEqual({ to: 'local', why: 'passthrough is on' });
  });

  it('sends a request once more that the server has not seen', async () => {
    const { handler, sent } = localOnly(refused, answer(201));
    const body = Readable.from([]);
    expect((await handler(ask('POST', '/api/v1/pods', body))).status).toBe(201);
    expect(sent()).toBe(2);
  });

  it('sends a write that may have been processed only once, and a read twice at most', async () => {
    const writes = localOnly(reset, answer(201));
    await expect(writes.handler(ask('POST', '/api/v1/pods'))).rejects.toMatchObject({ status: { code: 503 } });
    expect(writes.sent()).toBe(1);
    const reads = localOnly(reset);
    await expect(reads.handler(ask('GET', '/api/v1/pods'))).rejects.toMatchObject({ status: { code: 503 } });
    expect(reads.sent()).toBe(2);
  });

  it.each(['timeout', 'hang'] as const)('does not wait twice for a server that does not reply (%s)', async (type) => {
    const { handler, sent } = localOnly(new AttemptError('maybe', type, '10.0.0.1:6443: no reply'), answer());
    await expect(handler(ask('GET', '/api/v1/pods'))).rejects.toMatchObject({ status: { code: 503 } });
    expect(sent()).toBe(1);
  });

  it('names the failure of the local server in a 503 with Retry-After', async () => {
    const failed = localOnly(refused).handler(ask('GET', '/api/v1/pods'));
    await expect(failed).rejects.toMatchObject({ status: { code: 503 }, retryAfterSeconds: 1 });
    await expect(failed).rejects.toThrow('pods.v1 cannot be served right now: tried 10.0.0.1:6443: connection refused');
  });

  it('does not repeat a request of a client that has left', async () => {
    const { handler, sent } = localOnly(reset, answer());
    const exchange = ask('GET', '/api/v1/pods');
    exchange.abort();
    await expect(handler(exchange)).rejects.toMatchObject({ status: { code: 503 } });
    expect(sent()).toBe(1);
  });

  it('throws errors that are no failed attempts unchanged', async () => {
    const handler = createLocalOnly({ readsBodies: true, handle: () => Promise.reject(new TypeError('defect')) });
    await expect(handler(ask('GET', '/api'))).rejects.toThrow(TypeError);
  });
});

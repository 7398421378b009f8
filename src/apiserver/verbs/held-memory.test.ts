import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.js';
import { Exchange, type Reply } from '../../http/exchange.js';
import { FairLimiter } from '../../http/fair-limiter.js';
import type { JsonObject } from '../../kube/json.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { limitsFilter } from '../../proxy/chain/limits-filter.js';
import { ADMIN, startTestApiServer, type TestApiServer } from '../api-server.fixture.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MIB = 1024 * 1024;
const LARGE_BYTES = 200 * 1024;

let api: TestApiServer;

beforeAll(async () => {
  api = await startTestApiServer();
  expect((await api.ask('POST', MAPS, { body: map('large') })).status).toBe(201);
});
afterAll(() => api.close());

function map(name: string): JsonObject {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { text: 'x'.repeat(LARGE_BYTES) } };
}

/** The API server behind the limits filter, for users who may each hold `shareBytes` of memory. */
function limited(shareBytes: number) {
  const limiter = (heldMax: number, heldPerGroupMax = heldMax) =>
    new FairLimiter({ heldMax, heldPerGroupMax, queueMax: 100, waitMsMax: 500, clock: systemClock });
  const memory = limiter(8 * shareBytes, shareBytes);
  const others = { places: limiter(100), peerPlaces: limiter(100), longRunning: limiter(100) };
  const filter = limitsFilter({
    ...others,
    memory,
    usualHead: { headerBytesMax: 16 * 1024, headersCountMax: 100 },
    isFromPeerStraddle: () => false,
    judge: () => false,
  });
  const handler = filter.wrap((exchange) => api.server.handle(exchange));
  const send = async (method: string, target: string, body?: JsonObject): Promise<Reply> => {
    const bytes = Buffer.from(JSON.stringify(body ?? {}));
    const exchange = new Exchange(
      {
        method,
        target,
        headers: body ? ['Content-Type', 'application/json', 'Content-Length', String(bytes.byteLength)] : [],
        body: body ? Readable.from([bytes]) : null,
        connection: { remoteAddress: '127.0.0.1', certificateChain: [] },
      },
      systemClock.nowMs(),
    );
    exchange.info = parseRequestInfo(method, target)!;
    exchange.identity = ADMIN;
    try {
      return await handler(exchange);
    } finally {
      exchange.end();
    }
  };
  return { send, memory };
}

async function pastList(): Promise<string> {
  const { body } = await api.ask('GET', MAPS);
  const { resourceVersion } = body['metadata'] as JsonObject;
  return `${MAPS}?resourceVersionMatch=Exact&resourceVersion=${String(resourceVersion)}`;
}

it('the API server serves a list at a past revision to a user whose whole share of memory is reserved for it', async () => {
  const { send, memory } = limited(8 * MIB);
  expect((await send('GET', await pastList())).status).toBe(200);
  expect(memory.stats.held).toBe(0);
});

it('the API server serves concurrent lists of one user at a past revision', async () => {
  const { send, memory } = limited(32 * MIB);
  const target = await pastList();
  const replies = await Promise.all(Array.from({ length: 12 }, () => send('GET', target)));
  expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(memory.stats.held).toBe(0);
});

it('the API server does not refuse a write for lack of memory after it has been stored', async () => {
  const { send, memory } = limited(LARGE_BYTES * 1.5);
  expect((await send('POST', MAPS, map('stored'))).status).toBe(201);
  expect((await send('DELETE', `${MAPS}/stored`)).status).toBe(200);
  expect(memory.stats.held).toBe(0);
});

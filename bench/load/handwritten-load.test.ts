import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { handwrittenLoad } from './handwritten-load.js';
import { BODY, orderOf, type SmallServer, startSmallServer } from './small-server.fixture.js';

let server: SmallServer;
beforeEach(async () => {
  server = await startSmallServer();
});
afterEach(() => server.close());

test.each([
  ['h2', '2.0'],
  ['http/1.1', '1.1'],
] as const)('handwrittenLoad sends exactly the requests of the order over %s', async (protocol, version) => {
  const load = await handwrittenLoad(orderOf(server), protocol);
  expect(Object.fromEntries(server.asked)).toEqual({ [`${version} GET`]: 200 });
  expect(load.requests).toBe(200);
  expect(load.requestsPerSecond).toBeGreaterThan(0);
  expect(load.meanMs).toBeGreaterThan(0);
});

test('handwrittenLoad posts the body of a file', async () => {
  const bodyFile = join(server.dir, 'body');
  writeFileSync(bodyFile, BODY);
  const order = orderOf(server, { bodyFile, requests: 20 });
  await Promise.all([handwrittenLoad(order, 'h2'), handwrittenLoad(order, 'http/1.1')]);
  expect(Object.fromEntries(server.asked)).toEqual({ '2.0 POST': 20, '1.1 POST': 20 });
  expect(server.postedBytes).toBe(40 * BODY.length);
});

test('handwrittenLoad rejects for a wrong status, a body of an unexpected size and a refused connection', async () => {
  const broken = { path: '/broken', requests: 10 };
  const wrongStatus = /0 of 10 answers were a 200:\n503 out of order/;
  const nobody = orderOf(server, { url: 'https://127.0.0.1:1', requests: 10 });
  await Promise.all([
    expect(handwrittenLoad(orderOf(server, broken), 'h2')).rejects.toThrow(wrongStatus),
    expect(handwrittenLoad(orderOf(server, broken), 'http/1.1')).rejects.toThrow(wrongStatus),
    expect(handwrittenLoad(orderOf(server, { path: '/short', requests: 10 }), 'h2')).rejects.toThrow(
      /bodies of 999 bytes/,
    ),
    expect(handwrittenLoad(nobody, 'h2')).rejects.toThrow(/ECONNREFUSED/),
  ]);
});

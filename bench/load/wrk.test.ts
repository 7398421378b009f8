import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isInstalled } from '../../test/real/rig/debian-program.js';
import { BODY, orderOf, type SmallServer, startSmallServer } from './small-server.fixture.js';
import { readSummary, wrk } from './wrk.js';

const ORDER = {
  url: 'https://127.0.0.1:1',
  caFile: '',
  path: '/x',
  headers: {},
  connections: 8,
  streams: 4,
  requests: 2000,
  expected: { status: 200, bytesMin: 1800, bytesMax: 1800 },
};

const report = (more: object): string => {
  const right = { requests: 5000, micros: 2e6, bytes: 5000 * 2100, wrong: 0, failed: 0, meanMicros: 12_570 };
  return `Running 2s test\nRequests/sec:   2487.10\nwrk-summary ${JSON.stringify({ ...right, ...more })}\n`;
};

test('wrk summary: requests per second and mean latency are read', () => {
  expect(readSummary(report({}), ORDER)).toEqual({ requests: 5000, requestsPerSecond: 2500, meanMs: 12.57 });
});

test('wrk summary: error replies, failed connections, no replies and replies of an unexpected size are errors', () => {
  expect(() => readSummary(report({ wrong: 1 }), ORDER)).toThrow(/1 of 5000 answers were errors/);
  expect(() => readSummary(report({ failed: 2 }), ORDER)).toThrow(/2 failed/);
  expect(() => readSummary(report({ requests: 0 }), ORDER)).toThrow(/0 of 0/);
  expect(() => readSummary(report({ bytes: 5000 * 300 }), ORDER)).toThrow(/answers of 300 bytes/);
  expect(() => readSummary(report({ bytes: 5000 * 4000 }), ORDER)).toThrow(/answers of 4000 bytes/);
  expect(() => readSummary('unable to connect', ORDER)).toThrow(/no summary:\nunable to connect/);
});

describe.skipIf(!isInstalled('wrk'))('the installed wrk', () => {
  let server: SmallServer;
  beforeEach(async () => {
    server = await startSmallServer();
  });
  afterEach(() => server.close());

  test('sends requests over HTTP/1.1 and counts the replies', async () => {
    const load = await wrk('wrk', orderOf(server), 1);
    expect(load.requests).toBeGreaterThan(0);
    expect([...server.asked.keys()]).toEqual(['1.1 GET']);
    expect(load.meanMs).toBeGreaterThan(0);
  });

  test('rejects for replies with a wrong status', async () => {
    const expected = { status: 200, bytesMin: 0, bytesMax: BODY.length };
    await expect(wrk('wrk', orderOf(server, { path: '/broken', expected }), 1)).rejects.toThrow(/answers were errors/);
  });
});

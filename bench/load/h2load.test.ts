import { expect, test } from 'vitest';
import { readReport } from './h2load.js';
import type { Order } from './order.js';

const ORDER: Order = {
  url: 'https://127.0.0.1:1',
  caFile: '',
  path: '/x',
  headers: {},
  connections: 8,
  streams: 4,
  requests: 2000,
  expected: { status: 200, bytesMin: 1800, bytesMax: 1800 },
};

const report = (codes: string, data: number): string => `starting benchmark...

finished in 812.09ms, 2462.79 req/s, 4.32MB/s
requests: 2000 total, 2000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: ${codes}
traffic: 3.51MB (3676000) total, 18.38KB (18820) headers (space savings 95.96%), 3.43MB (${data}) data
                     min         max         mean         sd        +/- sd
time for request:     3.03ms     38.41ms     12.57ms      4.61ms    70.85%
time for connect:    10.21ms     39.93ms     26.24ms     10.35ms    62.50%
`;

test('h2load report: requests per second and mean latency are read', () => {
  expect(readReport(report('2000 2xx, 0 3xx, 0 4xx, 0 5xx', 3_600_000), ORDER)).toEqual({
    requests: 2000,
    requestsPerSecond: 2462.79,
    meanMs: 12.57,
  });
});

test('h2load report: one reply with a wrong status is an error', () => {
  expect(() => readReport(report('1999 2xx, 0 3xx, 0 4xx, 1 5xx', 3_600_000), ORDER)).toThrow(/1999 of 2000/);
});

test('h2load report: bodies of an unexpected size are an error', () => {
  expect(() => readReport(report('2000 2xx, 0 3xx, 0 4xx, 0 5xx', 3_599_999), ORDER)).toThrow(/bodies of 1799/);
});

test('h2load report: expected 304s are counted among the 3xx', () => {
  const order = { ...ORDER, expected: { status: 304, bytesMin: 0, bytesMax: 0 } };
  expect(readReport(report('0 2xx, 2000 3xx, 0 4xx, 0 5xx', 0), order).meanMs).toBe(12.57);
});

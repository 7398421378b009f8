import { describe, expect, it } from 'vitest';
import { FlowLog } from './flow-log.js';
import { type FlowExport, PREVENTED_RUNS_MAX } from './flow-recorder.js';
import { NO_COUNTS } from './flow-seconds.js';
import type { FlowRow } from './page-state.js';

function row(id: number, atMs: number): FlowRow {
  const common = { arrivedAt: 'a', answeredBy: 'a', verb: 'get', resource: 'pods.v1', userAgent: '', status: 200 };
  return { id, atMs, ...common, why: '', ms: 1, kind: 'local' };
}

function exported(more: Partial<FlowExport> = {}): FlowExport {
  return {
    rows: [],
    seconds: [],
    totals: NO_COUNTS,
    left: 0,
    clients: [],
    clientsLeft: 0,
    prevented: [],
    inFlight: new Map(),
    used: undefined,
    ...more,
  };
}

describe('flow log', () => {
  it('gives rows of several processes ids of one order, and takes each row once', () => {
    const log = new FlowLog();
    const first = exported({ rows: [row(1, 10), row(2, 30)] });
    const second = exported({ rows: [row(1, 20)] });
    log.take([
      [1, first],
      [2, second],
    ]);
    log.take([
      [1, exported({ rows: [row(1, 10), row(2, 30), row(3, 40)] })],
      [2, second],
    ]);
    expect(log.flow().recent.map(({ id, atMs }) => [id, atMs])).toEqual([
      [4, 40],
      [3, 30],
      [2, 20],
      [1, 10],
    ]);
  });

  it('adds up seconds, totals, clients, requests in flight and what was left out', () => {
    const log = new FlowLog();
    const each = exported({
      seconds: [{ atMs: 1_000, ...NO_COUNTS, requests: 2 }],
      totals: { ...NO_COUNTS, requests: 2 },
      left: 3,
      clients: [{ name: 'kubectl', version: 'v1', requests: 2, wouldHaveFailed: 1, lastAtMs: 5 }],
      clientsLeft: 4,
      inFlight: new Map([['b', 1]]),
    });
    log.take([
      [1, each],
      [2, { ...each, seconds: [...each.seconds, { atMs: 2_000, ...NO_COUNTS }] }],
    ]);
    expect(log.flow()).toMatchObject({
      seconds: [
        { atMs: 1_000, requests: 4 },
        { atMs: 2_000, requests: 0 },
      ],
      totals: { requests: 4 },
      left: 6,
    });
    expect(log.clients()).toEqual({
      rows: [{ name: 'kubectl', version: 'v1', requests: 4, wouldHaveFailed: 2, lastAtMs: 5 }],
      left: 8,
    });
    expect([...log.inFlight()]).toEqual([['b', 2]]);
  });

  it('keeps the totals of a process that has ended, and counts another one from the start', () => {
    const log = new FlowLog();
    log.take([[1, exported({ totals: { ...NO_COUNTS, requests: 5 }, rows: [row(9, 1)] })]]);
    log.take([[2, exported({ totals: { ...NO_COUNTS, requests: 1 }, rows: [row(1, 2)] })]]);
    expect(log.flow().totals.requests).toBe(6);
    expect(log.flow().recent.map(({ id }) => id)).toEqual([2, 1]);
  });

  it('keeps clients and runs of prevented 404s of processes that have ended, within their bounds', () => {
    const log = new FlowLog();
    const client = (name: string, requests: number) => ({
      name,
      version: '',
      requests,
      wouldHaveFailed: 1,
      lastAtMs: 0,
    });
    for (let source = 1; source <= 5; source++) {
      const clients = [client('kubectl', 1_000), ...Array.from({ length: 100 }, (_, i) => client(`${source} ${i}`, 1))];
      const at = source * 100_000;
      const prevented = Array.from({ length: 30 }, (_, i) => ({ fromMs: at + i * 100, toMs: at + i * 100, count: 1 }));
      log.take([[source, exported({ clients, clientsLeft: 1, prevented })]]);
    }
    log.take([]);
    const { rows, left } = log.clients();
    expect(rows[0]).toMatchObject({ name: 'kubectl', requests: 5_000, wouldHaveFailed: 5 });
    expect(rows.reduce((sum, { requests }) => sum + requests, left)).toBe(5 * 1_101);
    expect(log.prevented()).toHaveLength(PREVENTED_RUNS_MAX);
    expect(log.prevented().at(-1)).toEqual({ fromMs: 502_900, toMs: 502_900, count: 1 });
  });

  it('joins runs of prevented 404s at the same time', () => {
    const log = new FlowLog();
    const run = (fromMs: number, toMs: number, count: number) => exported({ prevented: [{ fromMs, toMs, count }] });
    log.take([
      [1, run(0, 10, 1)],
      [2, run(5, 20, 2)],
      [3, run(30, 40, 3)],
    ]);
    expect(log.prevented()).toEqual([
      { fromMs: 0, toMs: 20, count: 3 },
      { fromMs: 30, toMs: 40, count: 3 },
    ]);
  });

  it('keeps the uses until they are sent again', () => {
    const log = new FlowLog();
    log.take([
      [1, exported({ used: new Map([['pods.v1', 60_000]]) })],
      [2, exported({ used: new Map([['pods.v1', 120_000]]) })],
    ]);
    log.take([[1, exported()]]);
    expect([...log.used()]).toEqual([['pods.v1', 120_000]]);
  });

  it('keeps the later use of a process that is missing in an export', () => {
    const log = new FlowLog();
    const used = (pods: number) => exported({ used: new Map([['pods.v1', pods]]) });
    log.take([
      [1, used(60_000)],
      [2, used(120_000)],
    ]);
    log.take([[1, used(60_000)]]);
    expect([...log.used()]).toEqual([['pods.v1', 120_000]]);
  });
});

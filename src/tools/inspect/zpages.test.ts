import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { inspectCheck } from './check-inspection.js';
import { FakePlane, type FakeServer, type FakeZpages } from './inspected-plane.fixture.js';
import { inspect } from './inspection.js';
import { statusReport } from './status-report.js';
import { statusText } from './status-text.js';
import { flagsOf, givenFlags, statuszOf } from './zpages.js';

interface Page {
  readonly status: number;
  readonly text: string;
}

const RECORDED: Readonly<Record<string, Record<string, Page>>> = JSON.parse(
  readFileSync(new URL('./zpages.recorded.json', import.meta.url), 'utf8'),
);

const pagesOf = (server: string): FakeZpages => {
  const { statusz, flagz } = RECORDED[server]!;
  return { '/statusz': statusz!, '/flagz': flagz! };
};

let plane: FakePlane;

afterEach(() => plane?.close());

describe('recorded /statusz and /flagz', () => {
  const served = Object.keys(RECORDED).filter((server) => !server.includes('off'));

  it.each(served)('of %s are read alike from their structured form and from text', (server) => {
    const { statusz, statuszText, flagz, flagzText } = RECORDED[server]!;
    const structured = statuszOf(statusz!.text);
    expect(structured.emulationVersion).toMatch(/^1\.3[567]$/);
    expect(structured.uptimeSeconds).toBeLessThan(120);
    const text = statuszOf(statuszText!.text);
    expect(text).toMatchObject({ startedAtMs: structured.startedAtMs, emulationVersion: structured.emulationVersion });
    expect(Math.abs(text.uptimeSeconds! - structured.uptimeSeconds!)).toBeLessThanOrEqual(5);
    const flags = flagsOf(flagz!.text);
    expect(flags.size).toBeGreaterThan(100);
    expect([...flagsOf(flagzText!.text)].sort()).toEqual([...flags].sort());
    expect(givenFlags(flags).has('peer-ca-file')).toBe(server.includes('native'));
    expect(givenFlags(flags).get('advertise-address')).toBe('127.0.0.21');
  });

  it('of a hostile server are read as far as they make sense', () => {
    for (const text of [
      '',
      '{',
      '[]',
      '{"kind":"Statusz","uptimeSeconds":-1,"startTime":7,"emulationVersion":"1.36; rm"}',
    ]) {
      expect(statuszOf(text)).toEqual({
        startedAtMs: undefined,
        uptimeSeconds: undefined,
        emulationVersion: undefined,
      });
    }
    expect(flagsOf('{"kind":"Flagz","flags":{"a":1,"b":"c"}}')).toEqual(new Map([['b', 'c']]));
  });

  it('of a hostile server have no more flags than a server could have', () => {
    const flags = Array.from({ length: 10_000 }, (_, index) => [`a${index}`, 'b']);
    const text = flags.map(([name, value]) => `${name}=${value}\n`).join('');
    expect(flagsOf(`Warning: x\n${text}`).size).toBe(2_000);
    expect(flagsOf(JSON.stringify({ kind: 'Flagz', flags: Object.fromEntries(flags) })).size).toBe(2_000);
    for (const odd of ['1', '"text"', '[["a","b"]]', 'null']) {
      expect(flagsOf(`{"kind":"Flagz","flags":${odd}}`).size).toBe(0);
    }
  });
});

describe('straddle status and check with /statusz and /flagz', () => {
  const start = async (...servers: FakeServer[]) => {
    plane = new FakePlane();
    await plane.start(...servers);
    return plane.door(servers[0]!.name);
  };
  const linesOf = async (door: Awaited<ReturnType<typeof start>>) => {
    const report = await inspectCheck(door, undefined);
    const line = (name: string) => report.checks.find(({ check }) => check === name)!;
    return { report, line };
  };

  it('show uptime and emulated version', async () => {
    const door = await start(
      { name: 'a', kind: 'plain', version: 'v1.37.1', zpages: pagesOf('1.37') },
      { name: 'b', kind: 'plain', zpages: pagesOf('1.36') },
      { name: 'c', kind: 'plain', version: 'v1.35.8', zpages: pagesOf('1.35, pages off') },
    );
    const report = statusReport(await inspect(door));
    expect(report.servers).toMatchObject([
      { name: 'a', emulatedVersion: '1.36', uptimeSeconds: expect.any(Number) },
      { name: 'b', emulatedVersion: null, uptimeSeconds: expect.any(Number) },
      { name: 'c', emulatedVersion: null, uptimeSeconds: null },
    ]);
    expect(statusText(report, false)).toMatch(/^a +kube-apiserver +v1\.37\.1 \(as 1\.36\) +ready +\d+s /m);
  });

  it('find a native gate without --peer-ca-file, although health checks and metrics are not shown', async () => {
    const zpages = pagesOf('1.36');
    const { line } = await linesOf(
      await start({ name: 'a', kind: 'native', peerCa: false, forbidden: ['/readyz'], zpages }),
    );
    expect(line('peer-ca')).toMatchObject({ verdict: 'FAIL', detail: '--peer-ca-file is not given' });
    expect(line('protection').detail).toContain('the gate is on, but without --peer-ca-file native protection is off');
  });

  it('find the gate and the peer CA in flags alone', async () => {
    const zpages = pagesOf('1.36, gate off');
    const { line } = await linesOf(
      await start({ name: 'a', kind: 'plain', forbidden: ['/readyz', '/metrics'], zpages }),
    );
    expect(line('gate').verdict).toBe('FAIL');
    expect(line('front-proxy')).toBeUndefined();
  });

  it('report a page that the caller may not read, and go on without it', async () => {
    const door = await start({ name: 'a', kind: 'native', forbidden: ['/statusz', '/flagz'], zpages: pagesOf('1.36') });
    const { report, line } = await linesOf(door);
    expect(line('flags')).toMatchObject({
      verdict: 'unknown',
      detail: 'not allowed to get the non-resource URL /flagz',
    });
    expect(report.verdict).toBe('ok');
    expect(statusReport(await inspect(door)).servers[0]).toMatchObject({ health: 'ready', uptimeSeconds: null });
  });

  it('go on without a page that is too large', async () => {
    const huge = { status: 200, text: 'x'.repeat(300 * 1024) };
    const door = await start({ name: 'a', kind: 'native', zpages: { '/statusz': huge, '/flagz': huge } });
    const { report, line } = await linesOf(door);
    expect(line('flags')).toMatchObject({ verdict: 'unknown', detail: expect.stringContaining('larger than') });
    expect(report.verdict).toBe('ok');
  });

  it('do not take the flags of the API server behind a Straddle for those of the Straddle', async () => {
    const { report, line } = await linesOf(
      await start({ name: 'a', kind: 'straddle', zpages: pagesOf('1.36, gate off') }),
    );
    expect(line('gate').verdict).toBe('ok');
    expect(line('flags')).toBeUndefined();
    expect(report.verdict).toBe('ok');
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { FakePlane, NOW_MS } from './inspected-plane.fixture.js';
import { passthroughReport, passthroughText } from './passthrough-report.js';

let plane: FakePlane;

afterEach(() => plane.close());

const SINCE = new Date(NOW_MS).toISOString();
const ON = { on: true, reason: 'because' };
const OFF = { on: false, reason: '' };

async function switchAll(order: typeof ON | undefined, only: readonly string[] = [], door = 'a') {
  const report = await passthroughReport({ ...plane.door(door), order, only });
  return { ...report, text: passthroughText(report) };
}

describe('straddle passthrough', () => {
  it('switches every Straddle at its own address, and reads the state', async () => {
    plane = await new FakePlane().start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'straddle' });
    const { done, servers, text } = await switchAll(ON);
    expect(done).toBe(true);
    expect(servers).toMatchObject([
      { server: 'a', address: plane.address('a'), state: 'on', since: SINCE, reason: 'because', detail: '' },
      { server: 'b', address: plane.address('b'), state: 'on' },
    ]);
    expect([...plane.switched]).toEqual([
      ['a', 'because'],
      ['b', 'because'],
    ]);
    expect(text).toBe(
      `a (${plane.address('a')}): on since ${SINCE} (because)\nb (${plane.address('b')}): on since ${SINCE} (because)\n`,
    );
    expect((await switchAll(OFF, ['b'])).servers).toMatchObject([{ server: 'b', state: 'off' }]);
    const asked = await switchAll(undefined);
    expect(asked.servers.map(({ state }) => state)).toEqual(['on', 'off']);
    expect(asked.done).toBe(true);
  });

  it('is not done if one server cannot be reached, refuses or does not obey', async () => {
    plane = await new FakePlane().start(
      { name: 'a', kind: 'straddle' },
      { name: 'b', kind: 'straddle', down: true },
      { name: 'c', kind: 'straddle', forbidden: ['/straddle/passthrough'] },
      { name: 'd', kind: 'straddle', stuck: true },
    );
    const { done, servers, text } = await switchAll(ON);
    expect(done).toBe(false);
    expect(servers.map(({ state }) => state)).toEqual(['on', 'unknown', 'unknown', 'off']);
    expect(text).toContain(`b (${plane.address('b')}): not known, not reached: connection refused\n`);
    expect(text).toContain(`c (${plane.address('c')}): not known, refused (403): no reason given\n`);
    expect((await switchAll(ON, ['a'])).done).toBe(true);
    expect((await switchAll(undefined)).done).toBe(false);
  });

  it('is not done if one of several addresses of a server refuses', async () => {
    const refusing = { forbidden: ['/straddle/passthrough'] };
    for (const [first, second] of [
      [{}, refusing],
      [refusing, {}],
    ]) {
      plane = await new FakePlane().start(
        { name: 'a', kind: 'straddle', ...first },
        { name: 'a', kind: 'straddle', ...second },
      );
      for (const order of [ON, undefined]) {
        const { done, servers } = await switchAll(order);
        expect(servers).toMatchObject([{ server: 'a', state: 'unknown', detail: 'refused (403): no reason given' }]);
        expect(done).toBe(false);
      }
      await plane.close();
    }
  });

  it('prints the words of a server as one line without terminal sequences', async () => {
    plane = await new FakePlane().start({ name: 'a', kind: 'straddle' });
    const { text } = await switchAll({ on: true, reason: '\x1b[2Kall\r\n\x1b]0;x\x07 is\u202e well' });
    expect(text).toBe(`a (${plane.address('a')}): on since ${SINCE} (all is\ufffd well)\n`);
  });

  it('leaves kube-apiservers without Straddle out, but is not done with nothing else', async () => {
    plane = await new FakePlane().start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'plain' });
    const { done, text } = await switchAll(ON);
    expect(done).toBe(true);
    expect(text).toContain(`b (${plane.address('b')}): a kube-apiserver without Straddle, nothing to switch\n`);
    expect((await switchAll(ON, ['b'])).done).toBe(false);
  });

  it('asks given addresses also if the API cannot be reached, and names need the API', async () => {
    plane = await new FakePlane().start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'straddle', down: true });
    const { done, servers, notes } = await switchAll(ON, [plane.address('a')], 'b');
    expect(done).toBe(true);
    expect(servers).toMatchObject([{ server: plane.address('a'), state: 'on' }]);
    expect(notes).toEqual([expect.stringContaining('only the given addresses were asked')]);
    await expect(switchAll(ON, ['a'], 'b')).rejects.toThrow('cannot be reached');
  });

  it('finds a server by its address too, once, and names the servers for an unknown name', async () => {
    plane = await new FakePlane().start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'straddle' });
    expect((await switchAll(ON, ['a', plane.address('a'), 'A'])).servers).toHaveLength(1);
    await expect(switchAll(ON, ['a', 'x'])).rejects.toThrow('No server is called x; the cluster has a, b.');
  });
});

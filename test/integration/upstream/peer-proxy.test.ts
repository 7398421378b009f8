import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../control-plane.js';
import { HOSTS, JOB, JOBS, type MixedMember, MixedPlane, WITHOUT_BATCH } from './mixed-plane.js';

/** The tests of peer_proxy_test.go. docs/reference/upstream-tests.md has the table. */

describe.each(HOSTS)('peer_proxy_test.go, %s host:', (host) => {
  let plane: MixedPlane;
  afterEach(() => plane.close());

  const start = async (...members: Parameters<MixedPlane['add']>[]): Promise<MixedMember[]> => {
    plane = new MixedPlane(host);
    const added: MixedMember[] = [];
    for (const member of members) added.push(await plane.add(...member));
    return added;
  };
  const names = async (member: MixedMember) =>
    (await plane.ask(member, JOBS))
      .json<{ items: { metadata: { name: string } }[] }>()
      .items.map(({ metadata }) => metadata.name);

  it('TestPeerProxiedRequest', async () => {
    const [a, b] = (await start(['a'], ['b', WITHOUT_BATCH])) as [MixedMember, MixedMember];
    expect((await plane.ask(a, JOBS, { method: 'POST', body: JOB })).status).toBe(201);
    await plane.served(b, JOBS);
    expect(await names(b)).toEqual(['test-job']);
    expect(await plane.metrics(b)).toMatch(
      /apiserver_rerouted_request_total\{code="200",group="batch",version="v1",resource="jobs"\} \d/,
    );
  });

  // Upstream waits up to a minute for the lease of the stopped server to expire. Straddle sends the first request on.
  it('TestPeerProxiedRequestToThirdServerAfterFirstDies', async () => {
    const [a, b] = (await start(['a'], ['b', WITHOUT_BATCH], ['c'])) as [MixedMember, MixedMember];
    expect((await plane.ask(a, JOBS, { method: 'POST', body: JOB })).status).toBe(201);
    await plane.served(b, JOBS);
    await eventually(
      'B to know both peers',
      () => plane.metrics(b),
      (text) => ['a', 'c'].every((peer) => text.includes(`straddle_surface_age_seconds{server="${peer}"`)),
    );
    await a.stop();
    for (let i = 0; i < 10; i++) {
      const answer = await plane.ask(b, JOBS);
      expect(answer.status, answer.text).toBe(200);
    }
    expect(await names(b)).toEqual(['test-job']);
  });
});

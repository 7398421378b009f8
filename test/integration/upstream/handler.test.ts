import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGGREGATED, eventually } from '../control-plane.js';
import { resourcesOf } from './discovery-groups.js';
import { DEFINITIONS, HOSTS, type MixedMember, MixedPlane } from './mixed-plane.js';

/** The tests of handler_test.go that a client can notice, with merged discovery as the document. */

const PROTOBUF = AGGREGATED.replace('application/json', 'application/vnd.kubernetes.protobuf');
const V2BETA1 = AGGREGATED.replace('v=v2;', 'v=v2beta1;');
const READERS = 20;
const READS = 10;

describe.each(HOSTS)('handler_test.go, %s host:', (host) => {
  let plane: MixedPlane;
  let a: MixedMember;
  let b: MixedMember;
  beforeAll(async () => {
    plane = new MixedPlane(host);
    [a, b] = await plane.addTwo();
  });
  afterAll(() => plane.close());

  const conditional = (member: MixedMember, etag: string) =>
    plane.ask(member, '/apis', { headers: { Accept: AGGREGATED, 'If-None-Match': etag } });
  const etagOf = async (member: MixedMember) => String((await plane.discovery(member)).headers['etag']);
  /** The ETag of a server once its document has changed. */
  const changedEtag = (member: MixedMember, before: string) =>
    eventually(
      `another ETag of ${member.name}`,
      () => etagOf(member),
      (etag) => etag !== before,
    );
  const remove = (name: string) => plane.ask(a, `${DEFINITIONS}/${name}`, { method: 'DELETE' });
  const shows = (resource: string, wanted: boolean) =>
    eventually(
      `${resource} in the document of both servers: ${wanted}`,
      () => Promise.all([a, b].map((member) => plane.discovery(member))),
      (answers) => answers.every((answer) => resourcesOf(answer).includes(resource) === wanted),
    );

  it('TestBasicResponse', async () => {
    const answer = await plane.discovery(a);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, AGGREGATED]);
    expect(answer.headers['etag']).toMatch(/^"[^"]+"$/);
    expect(answer.json()).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    expect(resourcesOf(answer)).toEqual(expect.arrayContaining(['apps/v1/deployments', 'batch/v1/jobs']));
  });

  it('TestBasicResponseProtobuf', async () => {
    const answer = await plane.discovery(a, PROTOBUF);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, PROTOBUF]);
    expect(answer.headers['etag']).toMatch(/^"[^"]+"$/);
    expect(answer.raw.subarray(0, 4).toString('latin1')).toBe('k8s\0');
    for (const resource of ['deployments', 'cronjobs']) expect(answer.raw.includes(resource), resource).toBe(true);
  });

  it('TestV2Beta1SkewSupport', async () => {
    const [beta, current] = [await plane.discovery(a, V2BETA1), await plane.discovery(a)];
    expect([beta.status, beta.headers['content-type']]).toEqual([200, V2BETA1]);
    expect(beta.headers['etag']).toMatch(/^"[^"]+"$/);
    expect(beta.json()).toEqual({ ...current.json(), apiVersion: 'apidiscovery.k8s.io/v2beta1' });
  });

  it('TestEtagConsistent', async () => {
    const initial = await etagOf(a);
    expect(await etagOf(b)).toBe(initial);
    await plane.define(a, 'etag.example.com', 'things');
    const changed = await Promise.all([a, b].map((member) => changedEtag(member, initial)));
    await shows('etag.example.com/v1/things', true);
    expect(await etagOf(a)).toBe(await etagOf(b));
    expect((await remove('things.etag.example.com')).status).toBe(200);
    await shows('etag.example.com/v1/things', false);
    expect(changed).not.toContain(initial);
    expect([await etagOf(a), await etagOf(b)], 'the same content again').toEqual([initial, initial]);
  });

  it('TestEtagNonMatching', async () => {
    const answer = await conditional(a, '"wrongetag"');
    expect([answer.status, answer.headers['etag']]).toEqual([200, await etagOf(a)]);
  });

  it('TestEtagMatching', async () => {
    const etag = await etagOf(a);
    const answer = await conditional(a, etag);
    expect([answer.status, answer.headers['etag'], answer.raw.length]).toEqual([304, etag, 0]);
    expect((await conditional(b, etag)).status, 'the tag of another server').toBe(304);
  });

  it('TestEtagOutdated', async () => {
    const before = await etagOf(b);
    await plane.define(a, 'outdated.example.com', 'things');
    await changedEtag(b, before);
    const answer = await conditional(b, before);
    expect(answer.status).toBe(200);
    expect(answer.headers['etag']).not.toBe(before);
    expect(answer.raw.length).toBeGreaterThan(0);
  });

  it('TestAddRemove', async () => {
    await plane.define(a, 'added.example.com', 'things');
    await shows('added.example.com/v1/things', true);
    await remove('things.added.example.com');
    await shows('added.example.com/v1/things', false);
  });

  it('TestUpdateService', async () => {
    await plane.define(a, 'updated.example.com', 'things');
    await shows('updated.example.com/v1/things', true);
    const change = { spec: { names: { shortNames: ['updatedthing'] } } };
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const changed = await plane.ask(a, `${DEFINITIONS}/things.updated.example.com`, {
      ...{ method: 'PATCH', body: change, headers },
    });
    expect(changed.status, changed.text).toBe(200);
    for (const member of [a, b]) {
      const answer = await eventually(
        `the short name at ${member.name}`,
        () => plane.discovery(member),
        ({ text }) => text.includes('updatedthing'),
      );
      const shown = resourcesOf(answer).filter((each) => each.startsWith('updated.example.com/'));
      expect(shown, 'replaced, not added').toEqual(['updated.example.com/v1/things']);
    }
  });

  it('TestConcurrentRequests', async () => {
    const expected = await plane.discovery(a);
    const etag = String(expected.headers['etag']);
    const read = async (): Promise<void> => {
      for (let i = 0; i < READS; i++) {
        const answer = await (i % 2 === 0 ? plane.discovery(a) : conditional(a, etag));
        expect(answer.status).toBe(i % 2 === 0 ? 200 : 304);
        expect(answer.text).toBe(i % 2 === 0 ? expected.text : '');
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
  });
});

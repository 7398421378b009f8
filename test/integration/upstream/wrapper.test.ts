import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGGREGATED, NOPEER } from '../control-plane.js';
import { HOSTS, type MixedMember, MixedPlane, WITHOUT_APPS } from './mixed-plane.js';

/**
 * The cases of TestAggregationEnabled in wrapper_test.go, which have no names there: the form for each Accept header.
 * `straddle apiserver`, which is also behind the upstream host here, has discovery of its own as JSON only; the chain adds
 * protobuf to merged documents, and passes the reply of a kube-apiserver on.
 */

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const AGGREGATED_PROTOBUF = AGGREGATED.replace('application/json', PROTOBUF);
const V2BETA1 = AGGREGATED.replace('v=v2;', 'v=v2beta1;');
const LEGACY_FORMS = ['application/json;foo=bar', '', 'application/json'];

describe.each(HOSTS)('wrapper_test.go, %s host:', (host) => {
  let alone: MixedPlane;
  let mixed: MixedPlane;
  let single: MixedMember;
  let withPeer: MixedMember;
  beforeAll(async () => {
    [alone, mixed] = [new MixedPlane(host), new MixedPlane(host)];
    single = await alone.add('single', WITHOUT_APPS);
    [withPeer] = await mixed.addTwo();
  });
  afterAll(async () => {
    await alone.close();
    await mixed.close();
  });

  /** Which document a server without apps/v1 replies with; apps/v1 can only be from its peer. */
  const documentFor = async (plane: MixedPlane, member: MixedMember, accept: string) => {
    const { status, headers, raw } = await plane.discovery(member, accept);
    if (status === 406) return 'not acceptable';
    expect(status, accept).toBe(200);
    if (!String(headers['content-type']).includes('as=APIGroupDiscoveryList')) return 'unaggregated';
    return raw.includes('deployments') ? 'peer-aggregated' : 'nopeer-aggregated';
  };
  const expectAlone = async (document: string, ...accepts: string[]) => {
    for (const accept of accepts) expect(await documentFor(alone, single, accept), accept).toBe(document);
  };
  const expectMixed = async (document: string, ...accepts: string[]) => {
    for (const accept of accepts) expect(await documentFor(mixed, withPeer, accept), accept).toBe(document);
  };

  it('TestAggregationEnabled/unaggregated for a header without the aggregated form', async () => {
    await expectAlone('unaggregated', ...LEGACY_FORMS);
    await expectMixed('unaggregated', ...LEGACY_FORMS, PROTOBUF);
  });

  it('TestAggregationEnabled/aggregated without peers, in both versions', async () => {
    await expectAlone('nopeer-aggregated', AGGREGATED, V2BETA1);
    await expectAlone('not acceptable', AGGREGATED_PROTOBUF, V2BETA1.replace('application/json', PROTOBUF));
  });

  it('TestAggregationEnabled/the first accepted type', async () => {
    await expectAlone('nopeer-aggregated', `${AGGREGATED},application/json`, `${AGGREGATED_PROTOBUF},${AGGREGATED}`);
    await expectMixed('peer-aggregated', `${AGGREGATED_PROTOBUF},${PROTOBUF}`);
  });

  it('TestAggregationEnabled/peer-aggregated without a profile', () =>
    expectMixed('peer-aggregated', AGGREGATED, AGGREGATED_PROTOBUF));

  it('TestAggregationEnabled/nopeer-aggregated with profile=nopeer', async () => {
    await expectMixed('nopeer-aggregated', NOPEER);
    await expectMixed('not acceptable', `${AGGREGATED_PROTOBUF};profile=nopeer`);
  });

  it('TestAggregationEnabled/peer-aggregated with another profile', () =>
    expectMixed('peer-aggregated', `${AGGREGATED};profile=foo`));
});

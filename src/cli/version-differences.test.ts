import { describe, expect, it } from 'vitest';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { resourceName } from '../kube/gvr.js';
import { choose, notesOf, usesOf } from '../tools/rehearse/choice.js';
import { hasTemplate } from '../tools/rehearse/templates.js';
import { adviceToDiffer, newResource, versionDifferences } from './version-differences.js';

const VERSIONS = shippedVersions();
const PAIRS = VERSIONS.flatMap((from, index) => VERSIONS.slice(index + 1).map((to) => [from, to] as const));

const CLAIMS = 'resourceclaims.v1.resource.k8s.io';
const REQUESTS = 'podcertificaterequests.v1.certificates.k8s.io';
const POLICIES = 'mutatingadmissionpolicies.v1.admissionregistration.k8s.io';

/** What must be among the exercised, and whether namespaces can be. Recorded for every pair that ships. */
const EXPECTED: Readonly<Record<string, { readonly some: readonly string[]; readonly namespaces: boolean }>> = {
  '1.33 1.34': { some: [CLAIMS], namespaces: true },
  '1.33 1.35': { some: [CLAIMS], namespaces: true },
  '1.33 1.36': { some: [CLAIMS, POLICIES], namespaces: true },
  '1.33 1.37': { some: [CLAIMS, POLICIES, REQUESTS, 'csinodes.v1.storage.k8s.io/status'], namespaces: true },
  '1.34 1.36': { some: [POLICIES], namespaces: false },
  '1.34 1.37': { some: [POLICIES, REQUESTS], namespaces: true },
  '1.35 1.36': { some: [POLICIES], namespaces: false },
  '1.35 1.37': { some: [POLICIES, REQUESTS], namespaces: true },
  '1.36 1.37': {
    some: [
      REQUESTS,
      `${REQUESTS}/status`,
      'clustertrustbundles.v1.certificates.k8s.io',
      'devicetaintrules.v1.resource.k8s.io',
      'storageversionmigrations.v1.storagemigration.k8s.io',
      'csinodes.v1.storage.k8s.io/status',
    ],
    namespaces: true,
  },
};

async function chosen(from: string, to: string, runtimeConfig: readonly string[] = []) {
  const differences = await versionDifferences({ from, to, runtimeConfig });
  const choice = choose({ from, to, differences, manifests: [] });
  const uses = usesOf(choice);
  return { choice, uses, notes: notesOf(choice, uses) };
}

describe('a rehearsal without flags', () => {
  it.each(PAIRS)('from %s to %s exercises all that differs, each with an object of the table', async (from, to) => {
    const { choice, uses, notes } = await chosen(from, to);
    const expected = EXPECTED[`${from} ${to}`];
    if (expected === undefined) return expect(uses).toEqual([]);
    const exercised = uses.filter(({ exercises }) => exercises.length > 0).map(({ name }) => name);
    expect(exercised).toEqual(uses.map(({ name }) => name));
    expect(exercised).toEqual(expect.arrayContaining([...expected.some]));
    expect(choice.candidates.filter(({ difference: { kind } }) => !hasTemplate(kind))).toEqual([]);
    expect(uses.some(({ exercises }) => exercises.includes('owners'))).toBe(true);
    expect(uses.some(({ exercises }) => exercises.includes('namespaces'))).toBe(expected.namespaces);
    expect(notes.some((note) => note.startsWith('No namespaced resource differs'))).toBe(!expected.namespaces);
  });

  it.each(PAIRS)(
    'from %s to %s would exercise more with the advice, if the versions do not differ',
    async (from, to) => {
      const advice = await adviceToDiffer({ from, to, runtimeConfig: [] });
      const [, entry] = /--runtime-config=(\S+) for /.exec(advice)!;
      const before = (await chosen(from, to)).uses.length;
      expect((await chosen(from, to, [entry!])).uses.length).toBeGreaterThan(before);
    },
  );

  it('has advice for two versions that are the same', async () => {
    expect(await adviceToDiffer({ from: '1.37', to: '1.37', runtimeConfig: [] })).toBe(
      'give versions that are further apart',
    );
  });

  it('rejects a wrong entry of --runtime-config with one sentence', async () => {
    await expect(versionDifferences({ from: '1.36', to: '1.37', runtimeConfig: ['x=y=z'] })).rejects.toThrow(
      /^--runtime-config: "x=y=z" is not like/,
    );
  });
});

describe('newResource, which only the newer of two versions lists,', () => {
  it.each([
    ['1.35', '1.36', [], POLICIES],
    ['1.35', '1.36', ['scheduling.k8s.io/v1alpha2=true'], 'podgroups.v1alpha2.scheduling.k8s.io'],
    ['1.36', '1.37', [], REQUESTS],
    ['1.33', '1.34', [], CLAIMS],
    ['1.34', '1.35', [], undefined],
    ['1.37', '1.37', [], undefined],
    ['1.36', '1.35', [], undefined],
  ])('from %s to %s with runtime config %j is %s', async (from, to, runtimeConfig, name) => {
    const kind = await newResource({ from, to, runtimeConfig });
    expect(kind && resourceName(kind)).toBe(name);
  });
});

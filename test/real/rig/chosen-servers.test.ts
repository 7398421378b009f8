import { expect, test } from 'vitest';
import { newestOf, parseServers } from './chosen-servers.js';
import { pinnedVersions } from './pinned-versions.js';
import { newerSettings, olderSettings } from './skew.js';
import { servedBy, servedOnlyByNewer } from './surface-of.js';
import { flagsForNewerApis, newerApiOf } from './version-facts.js';

const [of33, of35, of36, of37] = ['1.33', '1.35', '1.36', '1.37'].map((minor) => pinnedVersions().get(minor)!);

test('--servers takes minor versions and pinned releases', () => {
  const wanted = { a: of36, b: of37, c: of37 };
  expect(parseServers('1.36,1.37,1.37')).toEqual(wanted);
  expect(parseServers(`${of36},${of37?.slice(1)}, 1.37`)).toEqual(wanted);
  expect(newestOf(parseServers('1.36,1.37,1.35'))).toBe(of37);
});

test.each([
  '',
  '1.36',
  '1.36,1.37',
  '1.36,1.37,1.37,1.37',
  '1.36,1.37,2',
  '1.36,1.37,1.7',
  '1.36,1.37,1.37.999',
  'a,b,c',
])('--servers=%s is refused in one sentence that lists the versions there are', (text) => {
  expect(() => parseServers(text)).toThrow(
    /^--servers=.* cannot be run: .*1\.33 \(1\.33\.\d+\), .*1\.37 \(1\.37\.\d+\)\.$/,
  );
});

test('what a server serves is read from the surface of its version', () => {
  const migrations = { group: 'storagemigration.k8s.io', version: 'v1', resource: 'storageversionmigrations' };
  expect([of36!, of37!].map((version) => servedBy(version, migrations))).toEqual([undefined, 'by default']);
  const status = { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes/status' };
  expect([of36!, of37!].map((version) => servedBy(version, status))).toEqual([undefined, 'by default']);
  const podGroups = { group: 'scheduling.k8s.io', version: 'v1beta1', resource: 'podgroups' };
  expect([of36!, of37!].map((version) => servedBy(version, podGroups))).toEqual([undefined, 'if switched on']);
  const names = servedOnlyByNewer({ a: of36!, b: of37!, c: of37! }).map(({ resource }) => resource);
  expect(names).toContain('clustertrustbundles');
  expect(names).not.toContain('podgroups');
});

test.each([
  ['1.36,1.37,1.37', 'scheduling.k8s.io/v1beta1 podgroups'],
  ['1.35,1.36,1.36', 'scheduling.k8s.io/v1alpha2 podgroups'],
  ['1.33,1.37,1.37', 'scheduling.k8s.io/v1beta1 podgroups'],
  ['1.34,1.35,1.35', 'scheduling.k8s.io/v1alpha1 workloads'],
  ['1.33,1.34,1.34', 'resource.k8s.io/v1 resourceclaims'],
  ['1.36,1.36,1.36', 'scheduling.k8s.io/v1alpha2 podgroups'],
  ['1.33,1.33,1.33', undefined],
])('the newer API of %s is %s', (servers, name) => {
  const api = newerApiOf(parseServers(servers));
  expect(api && `${api.group}/${api.version} ${api.resource}`).toBe(name);
});

test('newer servers switch on what is off by default; the older one has default flags', () => {
  expect(flagsForNewerApis(of36!)).toEqual([
    '--feature-gates=GenericWorkload=true',
    '--runtime-config=scheduling.k8s.io/v1alpha2=true',
  ]);
  expect(newerSettings(of37!).flags).toContain('--runtime-config=scheduling.k8s.io/v1beta1=true');
  expect(flagsForNewerApis(of33!)).toEqual([]);
  expect(olderSettings(of37!)).toEqual({ version: of37, flags: [] });
  expect(olderSettings(of35!, 'wide').flags).toEqual(['--emulated-version=1.32']);
  expect(olderSettings(of36!, 'wide').flags).toEqual(['--emulated-version=1.33']);
});

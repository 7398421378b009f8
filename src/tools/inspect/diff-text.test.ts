import { describe, expect, it } from 'vitest';
import { NO_COLORS } from '../../base/terminal-colors.js';
import type { ClientView, DiffReport, ResourceDifference } from './diff-report.js';
import { changeText, diffText } from './diff-text.js';

const LONG = 'storageversionmigrations.v1.storagemigration.k8s.io';

function reportOf(
  versions: Readonly<Record<string, string>>,
  resources: readonly ResourceDifference[],
  more: Partial<DiffReport> = {},
): DiffReport {
  const servers = Object.entries(versions).map(([name, version]) => ({ name, version }));
  return { servers, common: 7, resources, changes: [], clients: [], stored: [], notes: [], ...more };
}

const lengths = (text: string): number[] => text.split('\n').map(({ length }) => length);

describe('the text of straddle diff', () => {
  const THREE = { 's-1': 'v1.36.4', 's-2': 'v1.37.1', 's-3': 'v1.37.1' };
  const added = (name: string, verbs = ['get']): ResourceDifference => ({
    name,
    servedBy: { 's-1': null, 's-2': verbs, 's-3': verbs },
  });

  it('has one column for servers of one version that serve the same, and subresources with their resource', () => {
    const text = diffText(reportOf(THREE, [added(LONG), added(`${LONG}/status`), added('nodes.v1/status')]), false);
    expect(text).toBe(
      [
        'RESOURCE                                                       s-1       s-2, s-3',
        '                                                               v1.36.4   v1.37.1',
        `${LONG}, /status   -         yes`,
        'nodes.v1/status                                                -         yes',
        '',
        '7 resources and subresources are served alike by all 3 servers.',
        '',
      ].join('\n'),
    );
  });

  it('has a row of its own for a subresource that is served otherwise than its resource', () => {
    const scale = { name: 'jobs.v1/scale', servedBy: { 's-1': ['get'], 's-2': ['get', 'patch'], 's-3': ['get'] } };
    const text = diffText(reportOf(THREE, [added('jobs.v1'), scale]), false);
    expect(text).toMatch(/^jobs\.v1 +- +yes +yes\n {2}\/scale +no patch +yes +no patch\n/m);
  });

  it('names each resource once', () => {
    const names = ['a.v1', 'b.v1', 'b.v1/status'];
    const clients = Object.keys(THREE).map(
      (server): ClientView => ({ server, missing: server === 's-1' ? names : [], uncovered: [] }),
    );
    const changes = [{ from: 'v1.36.4', to: 'v1.37.1', added: names, removed: [] }];
    const report = reportOf(
      THREE,
      names.map((name) => added(name)),
      { clients, changes },
    );
    const text = diffText(report, false);
    expect(text.match(/\bb\.v1/g)).toHaveLength(1);
    expect(text).toContain('\nFrom v1.36.4 to v1.37.1: 3 added, 0 removed.\n');
    expect(text).toContain('\nA client of s-1 misses nothing: its proxy makes up for the 3 that it does not serve.\n');
    expect(text).toContain('\nClients of s-2, s-3 miss nothing.\n');
  });

  it('says that it is not known whether a proxy makes up for what is missing', () => {
    const clients = [{ server: 's-1', missing: ['a.v1'], uncovered: null }];
    const text = diffText(reportOf(THREE, [added('a.v1')], { clients }), false);
    expect(text).toContain(
      'A client of s-1 may miss what it does not serve: whether its proxy makes up for that is not known.\n',
    );
  });

  it.each([80, 100])('fits %i columns with long names of servers and resources, and loses none of them', (width) => {
    const hosts = ['1', '2', '3'].map((n) => `ip-10-0-0-${n}.eu-west-1.compute.internal`);
    const versions = Object.fromEntries(hosts.map((host, index) => [host, `v1.3${index + 5}.0`]));
    const crd = `${'long-plural-name'.repeat(3)}.v1alpha1.${'group.'.repeat(12)}example.com`;
    const servedBy = { [hosts[0]!]: null, [hosts[1]!]: ['get'], [hosts[2]!]: ['get', 'list'] };
    const resources = [LONG, crd, `${crd}/status`, `${crd}/scale`].map((name) => ({ name, servedBy }));
    const clients = [{ server: hosts[0]!, missing: [LONG, crd], uncovered: [LONG, crd] }];
    const notes = [`not allowed to list customresourcedefinitions.apiextensions.k8s.io at ${hosts.join(' and ')}`];
    const report = reportOf(versions, resources, { clients, notes });
    const text = diffText(report, false, { colors: NO_COLORS, width });
    expect(Math.max(...lengths(text))).toBeLessThanOrEqual(width);
    for (const host of hosts) expect(text).toMatch(new RegExp(`^[ABC]: ${host} \\(v1\\.3\\d\\.0\\)\\.$`, 'm'));
    expect(text).toMatch(/ {2}A {3}B +C\n/);
    expect(text.replaceAll('\n  ', '').replaceAll('\n', '')).toContain(crd);
    expect(text).toMatch(/^ {2}and \/status, \/scale +- +no list +yes$/m);
  });

  it('says which servers have no column where there are too many, and shows them with -o wide', () => {
    const names = Array.from({ length: 40 }, (_, index) => `server-${index}`);
    const versions = Object.fromEntries(names.map((name, index) => [name, `v1.37.${index}`]));
    const servedBy = Object.fromEntries(names.map((name, index) => [name, index === 0 ? null : ['get']]));
    const report = reportOf(versions, [{ name: 'a.v1', servedBy }]);
    const text = diffText(report, false);
    expect(Math.max(...lengths(text))).toBeLessThanOrEqual(100);
    expect(text.replace(/\n {2}/g, ' ')).toMatch(/\nNot in the table: server-\d+, .*server-39; see -o wide\.\n/);
    expect(diffText(report, true)).toMatch(/^RESOURCE +server-0 .* server-39\n/);
  });

  it('counts the verbs where too many are lacking to list them', () => {
    const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
    const servedBy = { 's-1': ['get', 'list'], 's-2': verbs, 's-3': verbs };
    expect(diffText(reportOf(THREE, [{ name: 'a.v1', servedBy }]), false)).toMatch(/^a\.v1 +2 of 8 verbs +yes$/m);
  });
});

describe('the text of straddle diff --from --to', () => {
  it('has subresources behind their resource', () => {
    const names = ['csinodes.v1/status', 'pods.v1 (patch)', 'pods.v1/resize', 'pods.v1/resize/x (get)', 'podsets.v1'];
    expect(changeText({ from: '1.36', to: '1.37', added: names, removed: ['a.v1'] }, false)).toBe(
      [
        'From 1.36 to 1.37: 5 added, 1 removed.',
        '  + csinodes.v1/status',
        '  + pods.v1 (patch), /resize, /resize/x (get)',
        '  + podsets.v1',
        '  - a.v1',
        '',
      ].join('\n'),
    );
  });

  it('is cut after 40 lines, but for -o wide', () => {
    const names = Array.from({ length: 50 }, (_, index) => `r${index}.v1`);
    const change = { from: 'a', to: 'b', added: names, removed: [] };
    expect(changeText(change, false)).toMatch(/\+ r39\.v1\n {2}… 10 more, see -o wide\n$/);
    expect(changeText(change, true)).toMatch(/\+ r49\.v1\n$/);
  });
});

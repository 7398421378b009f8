import { describe, expect, it } from 'vitest';
import { checkReport } from './check-report.js';
import { type ClusterFacts, type LeaseFact, leaseFact, podFact } from './cluster-facts.js';
import { commandLineFlags, gateInFlags } from './command-line.js';
import { knownServers, leaseConflicts } from './servers.js';
import { statusReport } from './status-report.js';

const lease = (fact: Partial<LeaseFact>): LeaseFact => ({
  name: 'l',
  kind: 'kube-apiserver',
  hostname: undefined,
  address: undefined,
  upstreamAddress: undefined,
  isBehindStraddle: false,
  renewedAtMs: 0,
  durationSeconds: 3_600,
  ...fact,
});

const facts = (some: Partial<ClusterFacts>): ClusterFacts => ({
  door: 'https://10.0.0.100:6443',
  serverTimeMs: 0,
  leases: [],
  endpointAddresses: [],
  areEndpointsKnown: true,
  pods: [],
  clientPods: [],
  authentication: undefined,
  notes: [],
  ...some,
});

describe('leases that claim one address for two host names', () => {
  const address = '10.0.0.2:6443';
  const contradicting = facts({
    leases: [lease({ name: 'real', hostname: 'b', address }), lease({ name: 'forged', hostname: 'evil', address })],
  });

  it('are reported by leaseConflicts with the address', () => {
    expect(leaseConflicts(contradicting)).toEqual([{ address, hosts: ['b', 'evil'], leases: ['real', 'forged'] }]);
  });

  it('are shown by straddle status and straddle check', () => {
    const inspection = { facts: contradicting, servers: [], nowMs: 0 };
    const told = `${address} is claimed for the host names b, evil, by the leases real, forged`;
    expect(statusReport(inspection).notes).toEqual([told]);
    const { checks } = checkReport({ inspection, surfaces: new Map(), ways: [], frontProxy: undefined });
    expect(checks).toContainEqual(expect.objectContaining({ check: 'leases', verdict: 'warn', detail: told, address }));
  });

  it('are no conflict if one lease is old, or if one is of the Straddle before the server', () => {
    const moved = [lease({ hostname: 'b', address }), lease({ hostname: 'c', address, renewedAtMs: 100_000 })];
    expect(leaseConflicts(facts({ leases: moved, serverTimeMs: 100_000 }))).toEqual([]);
    const before = lease({ kind: 'straddle', hostname: 'c', address: '10.0.0.2:7443', upstreamAddress: address });
    expect(leaseConflicts(facts({ leases: [lease({ hostname: 'b', address }), before] }))).toEqual([]);
  });
});

describe('the servers of a control plane', () => {
  it('are joined to one for a Straddle and its API server, with both addresses', () => {
    const [server, ...others] = knownServers(
      facts({
        leases: [
          lease({ name: 'k', hostname: 'cp1' }),
          lease({
            name: 's',
            kind: 'straddle',
            hostname: 'cp1',
            address: '10.0.0.1:6443',
            upstreamAddress: '10.0.0.1:7443',
          }),
        ],
        endpointAddresses: ['10.0.0.1:6443'],
      }),
    );
    expect(others).toEqual([]);
    expect(server).toMatchObject({
      name: 'cp1',
      endpoints: [
        { kind: 'kube-apiserver', address: '10.0.0.1:7443', lease: { name: 'k' } },
        { kind: 'straddle', address: '10.0.0.1:6443', lease: { name: 's' } },
      ],
    });
  });

  it('get their addresses from static pods if leases have none', () => {
    const pods = podFact({
      metadata: { name: 'kube-apiserver-cp1' },
      spec: {
        nodeName: 'cp1',
        containers: [{ command: ['kube-apiserver', '--secure-port', '7443', '--advertise-address=10.0.0.1'] }],
      },
    });
    const servers = knownServers(
      facts({
        leases: [lease({ hostname: 'cp1' }), lease({ hostname: 'cp2' })],
        pods,
        endpointAddresses: ['10.0.0.1:7443'],
      }),
    );
    expect(servers.map(({ name, endpoints }) => [name, endpoints.map(({ address }) => address)])).toEqual([
      ['cp1', ['10.0.0.1:7443']],
      ['cp2', []],
    ]);
  });

  it('are joined if one has only a name and the other only an address', () => {
    const servers = knownServers(facts({ leases: [lease({ hostname: 'cp1' })], endpointAddresses: ['10.0.0.1:6443'] }));
    expect(servers.map(({ name, endpoints }) => [name, endpoints[0]?.address])).toEqual([['cp1', '10.0.0.1:6443']]);
  });

  it('are only the server that replied if no source has an address', () => {
    expect(knownServers(facts({}))).toMatchObject([{ name: '10.0.0.100:6443' }]);
    expect(knownServers(facts({}), ['cp1.example:6443'])).toMatchObject([{ name: 'cp1.example:6443' }]);
  });
});

describe('leaseFact', () => {
  it('ignores leases of other kinds and invalid addresses', () => {
    expect(leaseFact({ metadata: { labels: { 'apiserver.kubernetes.io/identity': 'straddle-forget' } } })).toEqual([]);
    const [odd] = leaseFact({
      metadata: {
        labels: { 'apiserver.kubernetes.io/identity': 'straddle', 'kubernetes.io/hostname': 'CP1' },
        annotations: { 'kubernetes.io/peer-advertise-address': 'evil.example:6443' },
      },
    });
    expect(odd).toMatchObject({ hostname: 'cp1', address: undefined, renewedAtMs: undefined, durationSeconds: 0 });
  });
});

describe('commandLineFlags and gateInFlags', () => {
  it('read flags in every spelling that the program accepts', () => {
    const flags = commandLineFlags(['x', '--a=1', '--b_c', '2', '--d', '--e=x=y', '--a=3']);
    expect([...flags]).toEqual([
      ['a', '3'],
      ['b-c', '2'],
      ['d', 'true'],
      ['e', 'x=y'],
    ]);
  });

  it('read a gate among others, with and without a component', () => {
    const flags = new Map([['feature-gates', 'A=true,kube:B=false']]);
    expect([gateInFlags(flags, 'A'), gateInFlags(flags, 'B'), gateInFlags(flags, 'C')]).toEqual([
      true,
      false,
      undefined,
    ]);
  });
});

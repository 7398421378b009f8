import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOfUrl, canonicalAddress } from '../../base/address.js';
import { type Selves, type Sighting, uniteSightings } from './sightings.js';

const unite = (sightings: readonly Sighting[], selves: Selves) => uniteSightings(sightings, selves).servers;
const NOBODY = { names: [], addresses: [] };
const straddle = (hostname: string, address: string, upstreamAddress?: string): Sighting => ({
  source: 'lease',
  kind: 'straddle',
  hostname,
  address,
  ...(upstreamAddress ? { upstreamAddress } : {}),
});
const apiServer = (hostname: string, address?: string, renewedAtMs = 0): Sighting => ({
  source: 'lease',
  kind: 'kube-apiserver',
  hostname,
  renewedAtMs,
  ...(address ? { address } : {}),
});
const endpoint = (address: string): Sighting => ({ source: 'endpoints', kind: 'kube-apiserver', address });

describe('uniteSightings', () => {
  it('joins a lease, its Straddle and its endpoint into one server and prefers the API server', () => {
    const seen = [apiServer('b'), straddle('b', '10.0.0.2:7443', '10.0.0.2:6443'), endpoint('10.0.0.2:6443')];
    expect(unite(seen, NOBODY)).toMatchObject([
      {
        identity: 'b',
        endpoints: [
          { kind: 'kube-apiserver', address: '10.0.0.2:6443' },
          { kind: 'straddle', address: '10.0.0.2:7443' },
        ],
      },
    ]);
  });

  it('puts the address of an API server last of which its Straddle says that nobody listens there', () => {
    const behind: Sighting = { ...straddle('b', '10.0.0.2:7443', '10.0.0.2:6443'), isBehindStraddle: true };
    expect(unite([apiServer('b', '10.0.0.2:6443'), behind, endpoint('10.0.0.2:6443')], NOBODY)).toMatchObject([
      {
        identity: 'b',
        endpoints: [
          { kind: 'straddle', address: '10.0.0.2:7443' },
          { kind: 'kube-apiserver', address: '10.0.0.2:6443', isReserve: true },
        ],
      },
    ]);
    const { address: _, ...nowhere } = behind;
    expect(unite([nowhere], NOBODY)).toMatchObject([
      { endpoints: [{ kind: 'kube-apiserver', address: '10.0.0.2:6443' }] },
    ]);
    expect(unite([nowhere], NOBODY)[0]!.endpoints[0]).not.toHaveProperty('isReserve');
  });

  it('excludes this server by name, address and upstream address, with all joined sightings', () => {
    const selves = { names: ['A'], addresses: ['10.0.0.1:7443', '10.0.0.1:6443'] };
    const seen = [
      apiServer('a', '10.9.0.1:6443'),
      endpoint('10.0.0.1:6443'),
      endpoint('10.9.0.1:6443'),
      endpoint('10.0.0.2:6443'),
    ];
    expect(unite(seen, selves).map((server) => server.identity)).toEqual(['10.0.0.2:6443']);
  });

  it('returns no peer without an address', () => {
    expect(unite([apiServer('b')], NOBODY)).toEqual([]);
  });

  it('neither treats a load balancer as a server nor joins the servers behind it', () => {
    const seen = [
      apiServer('a', '10.0.0.100:6443'),
      apiServer('b', '10.0.0.100:6443'),
      endpoint('10.0.0.100:6443'),
      straddle('a', '10.0.0.1:7443'),
      straddle('b', '10.0.0.2:7443'),
    ];
    const servers = unite(seen, { names: ['a'], addresses: [] });
    expect(servers.map((s) => [s.identity, s.endpoints.map((e) => e.address)])).toEqual([['b', ['10.0.0.2:7443']]]);
  });

  it('gives a moved address to the host name that still renews its lease', () => {
    const seen = [apiServer('old', '10.0.0.2:6443', 1_000), apiServer('new', '10.0.0.2:6443', 100_000)];
    expect(unite(seen, NOBODY).map((server) => server.identity)).toEqual(['new']);
  });

  it('returns the same servers for any order of sightings', () => {
    const host = fc.constantFrom('a', 'b', 'c', 'd');
    const address = fc.constantFrom('10.0.0.1:1', '10.0.0.2:1', '10.0.0.3:1', '10.0.0.4:1');
    const sighting = fc.oneof(
      fc.tuple(host, address, address).map(([h, x, y]) => straddle(h, x, y)),
      fc.tuple(host, fc.option(address, { nil: undefined }), fc.nat(200_000)).map(([h, x, at]) => apiServer(h, x, at)),
      address.map(endpoint),
    );
    const shuffled = fc
      .array(sighting, { maxLength: 12 })
      .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        const selves = { names: ['a'], addresses: ['10.0.0.1:1'] };
        const servers = unite(list, selves);
        expect(unite(other, selves)).toEqual(servers);
        const addresses = servers.flatMap((server) => server.endpoints.map((e) => e.address));
        expect(new Set(addresses).size).toBe(addresses.length);
        expect(addresses).not.toContain('10.0.0.1:1');
      }),
    );
  });
});

describe('canonicalAddress and addressOfUrl', () => {
  it('return the canonical form', () => {
    expect(canonicalAddress('10.0.0.2:6443')).toBe('10.0.0.2:6443');
    expect(canonicalAddress('[FD00:0:0::2]:6443')).toBe('[fd00::2]:6443');
    expect(addressOfUrl('https://10.0.0.2:6443/')).toBe('10.0.0.2:6443');
    expect(addressOfUrl('https://b.example')).toBe('b.example:443');
  });

  it.each([
    '',
    'b:6443',
    '10.0.0.2',
    '10.0.0.2:0',
    '10.0.0.2:65536',
    '10.0.0.256:1',
    '0.0.0.0:1',
    '[::]:1',
    'fd00::2:1',
    '[fe80::1%eth0]:1',
  ])('canonicalAddress returns undefined for an address that cannot be dialled: %s', (text) => {
    expect(canonicalAddress(text)).toBeUndefined();
  });

  it.each(['http://10.0.0.2:1', '10.0.0.2:1', 'https://u@10.0.0.2:1', 'https://10.0.0.2:1/path'])(
    'addressOfUrl returns undefined for an invalid peer URL: %s',
    (url) => {
      expect(addressOfUrl(url)).toBeUndefined();
    },
  );
});

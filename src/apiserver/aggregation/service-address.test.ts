import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { resolveService, ServiceAddressError } from './service-address.js';

const SERVICES = { group: '', resource: 'services' };
const ENDPOINTS = { group: '', resource: 'endpoints' };
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const REFERENCE = { namespace: 'shop', name: 'hooks', port: 443 };

function objectsWith(spec: JsonObject | undefined, slices: readonly JsonObject[] = []): FakeObjects {
  const objects = new FakeObjects();
  if (spec) objects.put(SERVICES, { metadata: { namespace: 'shop', name: 'hooks' }, spec });
  for (const [i, slice] of slices.entries()) {
    const labels = { 'kubernetes.io/service-name': 'hooks' };
    objects.put(SLICES, { metadata: { namespace: 'shop', name: `hooks-${i}`, labels }, ...slice });
  }
  return objects;
}

const SPEC = {
  clusterIP: '10.0.0.1',
  ports: [
    { name: 'web', port: 80 },
    { name: 'https', port: 443 },
  ],
};

function addressOf(objects: FakeObjects, random = 0): string {
  const { address, serverName } = resolveService(objects, REFERENCE, () => random);
  expect(serverName).toBe('hooks.shop.svc');
  return address;
}

describe('the address of a service', () => {
  it('is a ready endpoint of any EndpointSlice that has the port', () => {
    const objects = objectsWith(SPEC, [
      {
        ports: [
          { name: 'web', port: 8080 },
          { name: 'https', port: 8443 },
        ],
        endpoints: [
          { addresses: ['10.1.0.1'], conditions: { ready: false } },
          { addresses: ['10.1.0.2'] },
          { addresses: ['10.1.0.3'], conditions: { ready: true } },
        ],
      },
      { ports: [{ name: 'https', port: 9443 }], endpoints: [{ addresses: ['fd00::1'] }] },
      { ports: [{ name: 'web', port: 8080 }], endpoints: [{ addresses: ['10.1.0.4'] }] },
    ]);
    expect([0, 0.34, 0.99].map((random) => addressOf(objects, random))).toEqual([
      '10.1.0.2:8443',
      '10.1.0.3:8443',
      '[fd00::1]:9443',
    ]);
  });

  it('is never taken from an EndpointSlice of another service or namespace', () => {
    const objects = objectsWith(SPEC);
    const slice = { ports: [{ name: 'https', port: 1 }], endpoints: [{ addresses: ['10.6.6.6'] }] };
    objects.put(SLICES, {
      metadata: { namespace: 'elsewhere', name: 'a', labels: { 'kubernetes.io/service-name': 'hooks' } },
      ...slice,
    });
    objects.put(SLICES, {
      metadata: { namespace: 'shop', name: 'b', labels: { 'kubernetes.io/service-name': 'other' } },
      ...slice,
    });
    expect(addressOf(objects)).toBe('10.0.0.1:443');
  });

  it('is taken from Endpoints if there is no EndpointSlice', () => {
    const objects = objectsWith({ ports: [{ port: 443 }] });
    objects.put(ENDPOINTS, {
      metadata: { namespace: 'shop', name: 'hooks' },
      subsets: [{ addresses: [{ ip: '10.1.0.9' }], ports: [{ port: 8443 }] }],
    });
    expect(addressOf(objects)).toBe('10.1.0.9:8443');
  });

  it('is the external name of an ExternalName service', () => {
    expect(addressOf(objectsWith({ type: 'ExternalName', externalName: 'hooks.test' }))).toBe('hooks.test:443');
  });

  it.each([
    [undefined, [], 'ServiceNotFound', 'service "hooks" not found'],
    [
      { clusterIP: '10.0.0.1', ports: [{ port: 80 }] },
      [],
      'ServicePortError',
      'no service port 443 found for service "hooks"',
    ],
    [
      { clusterIP: 'None', ports: [{ port: 443 }] },
      [],
      'MissingEndpoints',
      'no endpoints available for service "hooks"',
    ],
    [SPEC, [{ endpoints: [], ports: [] }], 'MissingEndpoints', 'no endpoints available for service "hooks"'],
    [{ type: 'Odd' }, [], 'Unsupported', 'unsupported service type "Odd"'],
  ] as const)('cannot be resolved for service spec %j with slices %j', (spec, slices, reason, message) => {
    const resolve = () =>
      resolveService(objectsWith(spec as JsonObject | undefined, slices as unknown as JsonObject[]), REFERENCE);
    expect(resolve).toThrow(ServiceAddressError);
    expect(resolve).toThrow(expect.objectContaining({ reason, message }));
  });
});

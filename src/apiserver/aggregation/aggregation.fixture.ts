import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { makeCa, makeClient, makeServer } from '../../http/tls/pki.fixture.js';
import type { JsonObject } from '../../kube/json.js';
import { createOutgoingHeaders } from '../../proxy/identity/outgoing-headers.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { OutboundCalls } from '../outbound/outbound-calls.js';
import { AggregatedApis } from './aggregated-apis.js';
import { API_SERVICES } from './api-service.js';

export const ca = makeCa('aggregated');
export const frontProxyCa = makeCa('front-proxy');
export const serverCertificate = makeServer(ca, { dnsNames: ['wardle.default.svc'], ipAddresses: [] });
const frontProxy = makeClient(frontProxyCa, { cn: 'front-proxy-client' });

const SERVICES = { group: '', resource: 'services' };
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };

export function makeAggregation() {
  const objects = new FakeObjects();
  const clock = new ManualClock();
  const outbound = new OutboundCalls({ clientCertificate: () => ({ cert: frontProxy.pem, key: frontProxy.keyPem }) });
  const apis = new AggregatedApis({
    objects,
    outbound,
    makeHeaders: createOutgoingHeaders(),
    clock,
    logger: silentLogger,
  });
  const close = async () => {
    apis.close();
    await outbound.close();
  };
  return { objects, clock, outbound, apis, close };
}

export function putService(objects: FakeObjects, name: string, spec: JsonObject): void {
  objects.put(SERVICES, { metadata: { namespace: 'default', name }, spec });
}

/** A service with one endpoint of this machine behind its port 443. */
export function putEndpoint(objects: FakeObjects, name: string, port: number, ready = true): void {
  putService(objects, name, { clusterIP: '10.0.0.7', ports: [{ name: 'https', port: 443 }] });
  objects.put(SLICES, {
    metadata: { namespace: 'default', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    ports: [{ name: 'https', port }],
    endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready } }],
  });
}

export function putApiService(objects: FakeObjects, group: string, service: JsonObject, more: JsonObject = {}): void {
  objects.put(API_SERVICES, {
    metadata: { name: `v1.${group}`, resourceVersion: '7' },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      caBundle: Buffer.from(ca.pem).toString('base64'),
      service: { namespace: 'default', ...service },
      ...more,
    },
  });
}

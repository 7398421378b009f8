import type { JsonObject } from '../../../src/kube/json.js';
import { kind, merge, spec } from './case.js';

const service = kind('v1/services', { apiVersion: 'v1', kind: 'Service' });
const endpoints = kind('v1/endpoints', { apiVersion: 'v1', kind: 'Endpoints' });
const slice = kind('discovery.k8s.io/v1/endpointslices', { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' });
const ingress = kind('networking.k8s.io/v1/ingresses', { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' });
const ingressClass = kind(
  'networking.k8s.io/v1/ingressclasses',
  { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass' },
  'cluster',
);
const policy = kind('networking.k8s.io/v1/networkpolicies', {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
});
const address = kind(
  'networking.k8s.io/v1/ipaddresses',
  { apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress' },
  'cluster',
);

const ports = [{ port: 80 }];
const backend = (port: JsonObject = { number: 80 }): JsonObject => ({ service: { name: 's', port } });
const path = (more: JsonObject = {}): JsonObject => ({ path: '/', pathType: 'Prefix', backend: backend(), ...more });

export const SERVICE_CASES = [
  service(
    'minimal',
    spec({ ports, selector: { a: 'b' } }),
    merge({ spec: { type: 'NodePort' } }),
    merge({ spec: { clusterIP: '10.96.0.200', clusterIPs: ['10.96.0.200'] } }),
    merge({ spec: { type: 'ExternalName', externalName: 'x.test' } }),
    merge({ spec: { ports: [{ port: 81, targetPort: 'web' }] } }),
  ),
  service('headless', spec({ ports, clusterIP: 'None' })),
  service('headless without selector or ports', spec({ clusterIP: 'None' })),
  service(
    'node port',
    spec({
      ports: [
        { port: 80, name: 'a' },
        { port: 53, protocol: 'UDP', name: 'b', targetPort: 'dns' },
      ],
      type: 'NodePort',
    }),
    merge({ spec: { type: 'ClusterIP' } }),
  ),
  service('chosen', spec({ ports: [{ port: 80, nodePort: 30123 }], type: 'NodePort', clusterIP: '10.96.12.13' })),
  service(
    'balanced',
    spec({ ports, type: 'LoadBalancer' }),
    merge({ status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } }, 'status'),
  ),
  service(
    'balanced without node ports',
    spec({
      ports,
      type: 'LoadBalancer',
      allocateLoadBalancerNodePorts: false,
      externalTrafficPolicy: 'Local',
      loadBalancerClass: 'a.test/b',
    }),
  ),
  service('external name', spec({ type: 'ExternalName', externalName: 'example.test' })),
  service('sticky', spec({ ports, sessionAffinity: 'ClientIP', externalIPs: ['1.2.3.4'] })),
  service('no ports', spec({})),
  service('unnamed ports', spec({ ports: [{ port: 80 }, { port: 81 }] })),
  service(
    'bad ports',
    spec({
      ports: [
        { port: 0, name: 'a' },
        { port: 70000, name: 'B!', protocol: 'X' },
        { port: 80, name: 'a', targetPort: 'x_y' },
        { port: 80, name: 'd', targetPort: 70000 },
      ],
    }),
  ),
  service(
    'doubled ports',
    spec({
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    }),
  ),
  service('bad type', spec({ ports, type: 'Odd', sessionAffinity: 'Odd' })),
  service('bad addresses', spec({ ports, clusterIP: 'x', externalIPs: ['y', '127.0.0.1'] })),
  service('outside', spec({ ports, clusterIP: '11.0.0.1' })),
  service('node port out of range', spec({ ports: [{ port: 80, nodePort: 80 }], type: 'NodePort' })),
  service('node port of a cluster ip', spec({ ports: [{ port: 80, nodePort: 30000 }] })),
  service('external name missing', spec({ type: 'ExternalName' })),
  service('bad name', { ...spec({ ports }), metadata: { name: '1abc' } }),
  service('bad selector', spec({ ports, selector: { 'B!': '!' } })),
  service('dual stack', spec({ ports, ipFamilyPolicy: 'RequireDualStack' })),
  service('prefers dual stack', spec({ ports, ipFamilyPolicy: 'PreferDualStack' })),
  service('ipv6', spec({ ports, ipFamilies: ['IPv6'] })),
  service(
    'internal',
    spec({ ports, internalTrafficPolicy: 'Odd', externalTrafficPolicy: 'Local', trafficDistribution: 'PreferClose' }),
  ),
  endpoints('minimal', { subsets: [{ addresses: [{ ip: '10.1.1.2' }, { ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }),
  endpoints('empty', {}),
  endpoints('bad', {
    subsets: [{ addresses: [{ ip: '127.0.0.1' }, { ip: 'x' }], ports: [{ port: 0 }, { port: 80, name: 'B!' }] }, {}],
  }),
  slice(
    'minimal',
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.1.1'] }], ports: [{ port: 80 }] },
    merge({ endpoints: [] }),
    merge({ addressType: 'IPv6' }),
  ),
  slice('bad', { addressType: 'Odd', endpoints: [{ addresses: [] }], ports: [{ name: 'B!', protocol: 'X' }] }),
  slice('bad address', {
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['x'], conditions: { ready: true } },
      { addresses: ['127.0.0.1'], hostname: 'B!' },
    ],
    ports: [],
  }),
  ingress('minimal', spec({ defaultBackend: backend() }), merge({ spec: { ingressClassName: 'c' } })),
  ingress(
    'rules',
    spec({
      ingressClassName: 'c',
      tls: [{ hosts: ['a.test'], secretName: 't' }],
      rules: [
        {
          host: 'a.test',
          http: { paths: [path(), path({ path: '/x', pathType: 'Exact', backend: backend({ name: 'web' }) })] },
        },
        { host: '*.b.test' },
      ],
    }),
  ),
  ingress('nothing', spec({})),
  ingress(
    'bad',
    spec({
      rules: [
        {
          host: 'B!',
          http: {
            paths: [
              path({ path: 'x' }),
              path({ pathType: 'Odd' }),
              { path: '/', backend: {} },
              path({ backend: backend({}) }),
              path({ path: '/a//b' }),
            ],
          },
        },
        { host: '1.2.3.4', http: { paths: [] } },
        { host: 'a.*.test' },
      ],
    }),
  ),
  ingressClass(
    'minimal',
    spec({ controller: 'a.test/b', parameters: { kind: 'K', name: 'n' } }),
    merge({ spec: { controller: 'a.test/c' } }),
  ),
  ingressClass('bad', spec({ controller: 'x', parameters: { kind: '', name: '', scope: 'Namespace' } })),
  policy('minimal', spec({ podSelector: {} })),
  policy(
    'both',
    spec({
      podSelector: {},
      ingress: [
        {
          from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
          ports: [{ port: 80 }, { port: 'web', protocol: 'UDP' }],
        },
      ],
      egress: [{}],
    }),
  ),
  policy(
    'bad',
    spec({
      podSelector: { matchLabels: { a: '!' } },
      policyTypes: ['Odd'],
      ingress: [
        {
          from: [
            {},
            { ipBlock: { cidr: 'x' } },
            { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/8'] } },
          ],
          ports: [
            { port: 0, protocol: 'X' },
            { port: 80, endPort: 79 },
          ],
        },
      ],
    }),
  ),
  address('minimal', {
    ...spec({ parentRef: { resource: 'services', name: 's', namespace: 'default' } }),
    metadata: { name: '10.97.0.1' },
  }),
];

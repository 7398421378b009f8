import { describe, expect, it } from 'vitest';
import { encodeDiscoveryProtobuf } from './discovery-protobuf.js';

describe('encodeDiscoveryProtobuf', () => {
  it('writes the same bytes as kube-apiserver', () => {
    const document = {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
    };
    const typeMeta = '0a0f0a00120b41504956657273696f6e73';
    const address = '121a0a09302e302e302e302f30120d31302e302e302e313a36343433';
    expect(encodeDiscoveryProtobuf(document).toString('hex')).toBe(`6b387300${typeMeta}12200a027631${address}1a002200`);
  });

  it('wraps the verbs of a legacy resource in a message', () => {
    const resource = { name: 'jobs', namespaced: true, kind: 'Job', verbs: ['get'], singularName: 'job' };
    const hex = encodeDiscoveryProtobuf({
      kind: 'APIResourceList',
      groupVersion: 'batch/v1',
      resources: [resource],
    } as never).toString('hex');
    expect(hex).toContain(`22050a03${Buffer.from('get').toString('hex')}`);
  });

  it('writes lengths above 127 as several bytes', () => {
    const name = 'x'.repeat(300);
    const bytes = encodeDiscoveryProtobuf({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [{ name, versions: [] }],
    } as never);
    expect(bytes.toString('hex')).toContain(`0aac02${Buffer.from('xx').toString('hex')}`);
  });

  it('throws for a kind without a protobuf form', () => {
    expect(() => encodeDiscoveryProtobuf({ kind: 'Pod' })).toThrow('no protobuf form of Pod');
  });
});

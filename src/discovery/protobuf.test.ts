import { describe, expect, it } from 'vitest';
import { encodeProtobuf } from './protobuf.js';

describe('encodeProtobuf', () => {
  it('writes what kube-apiserver writes', () => {
    // From a v1.35.8 server: GET /api with the address shortened.
    const document = {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
    };
    const inner = '0a0276311218' + '0a09302e302e302e302f30' + '120d31302e302e302e313a36343433';
    const object = inner.replace('1218', '121a');
    const hex = `6b387300${'0a0f0a00120b41504956657273696f6e73'}12${(object.length / 2).toString(16)}${object}1a002200`;
    expect(encodeProtobuf(document).toString('hex')).toBe(hex);
  });

  it('wraps the verbs of a legacy resource in a message of their own', () => {
    const resource = { name: 'jobs', namespaced: true, kind: 'Job', verbs: ['get'], singularName: 'job' };
    const hex = encodeProtobuf({
      kind: 'APIResourceList',
      groupVersion: 'batch/v1',
      resources: [resource],
    } as never).toString('hex');
    expect(hex).toContain(`22050a03${Buffer.from('get').toString('hex')}`);
  });

  it('writes lengths above 127 as several bytes', () => {
    const name = 'x'.repeat(300);
    const bytes = encodeProtobuf({ kind: 'APIGroupList', apiVersion: 'v1', groups: [{ name, versions: [] }] } as never);
    expect(bytes.toString('hex')).toContain(`0aac02${Buffer.from('xx').toString('hex')}`);
  });

  it('has no form for other kinds', () => {
    expect(() => encodeProtobuf({ kind: 'Pod' })).toThrow('no protobuf form of Pod');
  });
});

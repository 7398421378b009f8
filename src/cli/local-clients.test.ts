import { describe, expect, it } from 'vitest';
import { localClients } from './local-clients.js';
import type { Surroundings } from './surroundings.js';

const kubeconfig = (server: string) =>
  JSON.stringify({
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { 'client-certificate': '/gone/client.crt', 'client-key': '/gone/client.key' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  });

/** A machine with these files; a text that is an error code is the error of reading it. */
function machine(files: Readonly<Record<string, string>>): Surroundings {
  const readFile = (path: string) => {
    const text = files[path] ?? 'ENOENT';
    if (/^E[A-Z]+$/.test(text)) throw Object.assign(new Error(text), { code: text });
    return text;
  };
  return { readFile, hostname: 'cp-1', addresses: ['10.0.0.1'], nowMs: Date.now } as unknown as Surroundings;
}

describe('localClients', () => {
  it("reads the servers of the components' kubeconfigs, without their credentials", () => {
    const { kubeconfigs, ...rest } = localClients(
      undefined,
      machine({
        '/etc/kubernetes/controller-manager.conf': kubeconfig('https://10.0.0.1:6443'),
        '/etc/kubernetes/kubelet.conf': kubeconfig('https://lb.example:6443'),
      }),
    );
    expect(rest).toEqual({ areGiven: false, hostname: 'cp-1', addresses: ['10.0.0.1'] });
    expect(
      kubeconfigs.map(({ component, access }) => [component, access?.url, access?.credentials.clientCert]),
    ).toEqual([
      ['kube-controller-manager', 'https://10.0.0.1:6443', undefined],
      ['kubelet', 'https://lb.example:6443', undefined],
    ]);
  });

  it('says why a file cannot be used, and leaves out those that are not there', () => {
    const files = { '/k/controller-manager.conf': 'EACCES', '/k/scheduler.conf': 'kind: Pod' };
    const { kubeconfigs, areGiven } = localClients('/k', machine(files));
    expect(areGiven).toBe(true);
    expect(kubeconfigs).toMatchObject([
      { access: undefined, problem: '/k/controller-manager.conf cannot be read (EACCES); run this as root' },
      { access: undefined, problem: expect.stringContaining('/k/scheduler.conf is not a kubeconfig') },
    ]);
  });

  it('refuses a folder that was named and has none of them', () => {
    expect(() => localClients('/k', machine({}))).toThrow(
      '--components-dir /k has none of controller-manager.conf, scheduler.conf, kubelet.conf',
    );
    expect(localClients(undefined, machine({})).kubeconfigs).toEqual([]);
  });
});

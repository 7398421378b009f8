import type { KubeObject } from '../rig/http-client.js';

/** A pod that nobody runs: no scheduler, no kubelet unless a scenario brings one. */
export function pod(name: string, cpu: string, nodeName?: string): KubeObject {
  const resources = { requests: { cpu, memory: '32Mi' }, limits: { cpu, memory: '32Mi' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      containers: [{ name: 'main', image: 'example.test/nothing', resources }],
      automountServiceAccountToken: false,
      ...(nodeName !== undefined && { nodeName }),
    },
  };
}

import type { KubeObject } from '../rig/http-client.js';

/** A pod that does not run: there is no scheduler, and a kubelet only if a scenario starts one. */
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

import assert from 'node:assert/strict';
import { call, type Endpoint, type KubeObject } from '../rig/http-client.js';

/** The API that only B and C serve. */
export const PODGROUPS = '/apis/scheduling.k8s.io/v1alpha2';

export const podGroupsIn = (namespace: string): string => `${PODGROUPS}/namespaces/${namespace}/podgroups`;

export function podGroup(name: string): KubeObject {
  return {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: 'PodGroup',
    metadata: { name },
    spec: { schedulingPolicy: { gang: { minCount: 2 } } },
  };
}

export async function createPodGroup(endpoint: Endpoint, namespace: string, name: string): Promise<string> {
  const created = await call(endpoint, podGroupsIn(namespace), { method: 'POST', body: podGroup(name) });
  assert.equal(created.status, 201, created.text);
  return `${podGroupsIn(namespace)}/${name}`;
}

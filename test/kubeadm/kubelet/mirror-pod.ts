import type { JsonObject } from '../../../src/kube/json.js';
import { objectMember } from '../../../src/kube/json.js';
import type { StaticPod } from './static-pod.js';

const PREFIX = 'kubernetes.io/config';

export interface MirrorNode {
  readonly name: string;
  readonly address: string;
  readonly uid: string;
}

/** The name under which a static pod is seen in the API. */
export function mirrorName(pod: StaticPod, nodeName: string): string {
  return `${pod.manifest.name}-${nodeName}`;
}

/** Returns the pod that a kubelet creates in the API for a static pod, which NodeRestriction accepts from the node only. */
export function mirrorPod(pod: StaticPod, node: MirrorNode): JsonObject {
  const { manifest } = pod;
  const metadata = objectMember(manifest.pod, 'metadata');
  const annotations = {
    ...objectMember(metadata, 'annotations'),
    [`${PREFIX}.hash`]: manifest.hash,
    [`${PREFIX}.mirror`]: manifest.hash,
    [`${PREFIX}.seen`]: new Date(pod.startedMs).toISOString(),
    [`${PREFIX}.source`]: 'file',
  };
  const owner = { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: mirrorName(pod, node.name), annotations, ownerReferences: [owner] },
    spec: {
      ...objectMember(manifest.pod, 'spec'),
      nodeName: node.name,
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    },
  };
}

/** Returns the hash of the manifest that a mirror pod stands for. */
export function mirroredHash(pod: JsonObject): unknown {
  return objectMember(objectMember(pod, 'metadata'), 'annotations')[`${PREFIX}.hash`];
}

/** Returns the status of a mirror pod, without times that change with each call. */
export function mirrorStatus(pod: StaticPod, address: string): JsonObject {
  const isRunning = pod.state === 'running';
  const startedAt = new Date(pod.startedMs).toISOString().replace(/\.\d+/, '');
  const condition = (type: string, isTrue: boolean) => ({ type, status: isTrue ? 'True' : 'False' });
  const waiting = { waiting: { reason: pod.state === 'back-off' ? 'CrashLoopBackOff' : 'ErrImagePull' } };
  const { containerName: name, image } = pod.manifest;
  return {
    phase: pod.startedMs === 0 ? 'Pending' : 'Running',
    hostIP: address,
    hostIPs: [{ ip: address }],
    podIP: address,
    podIPs: [{ ip: address }],
    ...(pod.startedMs === 0 ? {} : { startTime: startedAt }),
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', pod.isReady),
      condition('Ready', pod.isReady),
    ],
    containerStatuses: [
      {
        name,
        image,
        imageID: image,
        ready: pod.isReady,
        started: pod.hasStarted,
        restartCount: pod.restarts,
        state: isRunning ? { running: { startedAt } } : waiting,
      },
    ],
  };
}

import type { Destination } from '../../http/outgoing.js';
import type { JsonObject } from '../../kube/json.js';
import { timestamp } from '../../kube/timestamp.js';
import { askServer } from './plane-client.js';

export interface MirrorPod {
  /** Name of the server, also used as the node, which a mirror pod has to name. */
  readonly server: string;
  readonly version: string;
  readonly command: readonly string[];
  readonly host: string;
  readonly nowMs: number;
}

const PODS = '/api/v1/namespaces/kube-system/pods';

/**
 * Writes a mirror pod for a server, as the kubelet does for the static pods of kubeadm, so that `kubectl get pods -n
 * kube-system -l component=kube-apiserver` shows it with its command line.
 */
export async function writeMirrorPod(destination: Destination, pod: MirrorPod): Promise<void> {
  const name = `kube-apiserver-${pod.server}`;
  const target = `${PODS}/${name}`;
  // The command of a pod is immutable, so the pod of a replaced server is deleted first.
  await askServer(destination, 'DELETE', `${target}?gracePeriodSeconds=0`);
  const made = await askServer(destination, 'POST', PODS, { body: mirrorPod(name, pod) });
  if (made.status !== 201) throw new Error(`the mirror pod ${name} was refused: ${made.body['message']}`);
  const body = { ...made.body, status: runningStatus(pod) };
  const shown = await askServer(destination, 'PUT', `${target}/status`, { body });
  if (shown.status !== 200) throw new Error(`the status of mirror pod ${name} was refused: ${shown.body['message']}`);
}

function mirrorPod(name: string, { server, version, command }: MirrorPod): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'kube-system',
      labels: { component: 'kube-apiserver', tier: 'control-plane' },
      annotations: { 'kubernetes.io/config.mirror': server, 'kubernetes.io/config.source': 'file' },
    },
    spec: {
      nodeName: server,
      hostNetwork: true,
      restartPolicy: 'Always',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      containers: [{ name: 'kube-apiserver', image: imageOf(version), command: [...command] }],
    },
  };
}

function runningStatus({ version, host, nowMs }: MirrorPod): JsonObject {
  const at = timestamp(nowMs);
  const condition = (type: string): JsonObject => ({ type, status: 'True', lastTransitionTime: at });
  return {
    phase: 'Running',
    startTime: at,
    hostIP: host,
    podIP: host,
    podIPs: [{ ip: host }],
    conditions: ['Initialized', 'PodScheduled', 'ContainersReady', 'Ready'].map(condition),
    containerStatuses: [
      {
        name: 'kube-apiserver',
        image: imageOf(version),
        imageID: '',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: at } },
      },
    ],
  };
}

function imageOf(version: string): string {
  return `straddle/apiserver:v${version}`;
}

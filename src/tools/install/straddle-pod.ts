import type { JsonObject } from '../../kube/json.js';
import { yamlText } from './manifest-edit.js';
import { proxyArguments, type Sidecar, STATE_DIR } from './sidecar.js';

/** File name of Straddle's static pod among the manifests. */
export const STRADDLE_POD = 'straddle.yaml';
export const DEFAULT_IMAGE_NAME = 'straddle';

/** Longer than --shutdown-grace, so that requests in flight end before the kubelet kills the container. */
const TERMINATION_SECONDS = 45;
/** Ports below need a capability. */
const UNPRIVILEGED_PORT_MIN = 1024;
const PROBE = { timeoutSeconds: 15, periodSeconds: 10, failureThreshold: 8 };
const STARTUP_FAILURES = 24;

/** Returns the static pod of a Straddle, as YAML. */
export function straddlePod(sidecar: Sidecar, image: string): string {
  const container = {
    name: 'straddle',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['straddle', 'proxy', ...proxyArguments(sidecar, '$(NODE_IP)')],
    ...(sidecar.host === undefined ? { env: [NODE_IP] } : {}),
    startupProbe: { ...probe('/livez', sidecar), failureThreshold: STARTUP_FAILURES },
    livenessProbe: probe('/livez', sidecar),
    readinessProbe: { ...probe('/readyz', sidecar), periodSeconds: 1, failureThreshold: 3 },
    resources: { requests: { cpu: '250m', memory: '256Mi' } },
    securityContext: containerSecurity(sidecar),
    volumeMounts: [
      ...sidecar.files.map(({ flag, path }) => ({ name: flag, mountPath: path, readOnly: true })),
      { name: 'state', mountPath: STATE_DIR },
    ],
  };
  return yamlText({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'straddle', namespace: 'kube-system', labels: { component: 'straddle', tier: 'control-plane' } },
    spec: {
      containers: [container],
      hostNetwork: true,
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      terminationGracePeriodSeconds: TERMINATION_SECONDS,
      volumes: [
        ...sidecar.files.map(({ flag, hostPath }) => ({ name: flag, hostPath: { path: hostPath, type: 'File' } })),
        { name: 'state', hostPath: { path: STATE_DIR, type: 'DirectoryOrCreate' } },
      ],
    },
  } satisfies JsonObject as JsonObject);
}

const NODE_IP = { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } };

/** The port by its number: podman refuses a list of ports, which would name it, in a pod on the network of the host. */
function probe(path: string, { host, port }: Sidecar) {
  return { httpGet: { ...(host === undefined ? {} : { host }), path, port, scheme: 'HTTPS' }, ...PROBE };
}

/**
 * The user is the one of the kube-apiserver: kubeadm's keys are readable by their owner only, which is root unless the feature
 * gate RootlessControlPlane gave them to another. Root without capabilities reads what root owns, and nothing else.
 */
function containerSecurity({ runAs, port }: Sidecar) {
  return {
    runAsUser: runAs?.user ?? 0,
    runAsGroup: runAs?.group ?? 0,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], ...(port < UNPRIVILEGED_PORT_MIN ? { add: ['NET_BIND_SERVICE'] } : {}) },
  };
}

import { join } from 'node:path';
import { binaryPath } from './binaries.js';
import { freePort } from './free-port.js';
import type { KubeObject } from './http-client.js';
import type { Pki } from './pki.js';
import { RigProcess } from './process.js';

const ADDRESS = '127.0.0.31';
const SERVICE = 'wardle';

export interface SampleApiserver {
  readonly process: RigProcess;
  /** The Service and the APIServices that make kube-apiservers pass its group on to it. */
  readonly service: KubeObject;
  readonly apiService: KubeObject;
}

export interface SampleApiserverOptions {
  readonly dir: string;
  readonly pki: Pick<Pki, 'ca'>;
  readonly etcdUrl: string;
  /** For its own questions to the control plane: who is this, may they do that. */
  readonly kubeconfig: string;
  readonly namespace: string;
}

/** A real aggregated API server with group wardle.example.com, stored in the same etcd under its own prefix. */
export async function startSampleApiserver(options: SampleApiserverOptions): Promise<SampleApiserver> {
  const { dir, pki, etcdUrl, kubeconfig, namespace } = options;
  const port = await freePort(ADDRESS);
  const serving = pki.ca.issue('sample-apiserver', {
    commonName: 'sample-apiserver',
    hosts: [`${SERVICE}.${namespace}.svc`, ADDRESS],
  });
  const process = new RigProcess({
    name: 'sample-apiserver',
    command: binaryPath('sample-apiserver'),
    logFile: join(dir, 'sample-apiserver.log'),
    args: [
      `--etcd-servers=${etcdUrl}`,
      `--bind-address=${ADDRESS}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${serving.certFile}`,
      `--tls-private-key-file=${serving.keyFile}`,
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
    ],
  });
  return {
    process,
    // An ExternalName service is the one kind that may lead to a loopback address.
    service: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: SERVICE, namespace },
      spec: { type: 'ExternalName', externalName: ADDRESS },
    },
    apiService: {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1alpha1.wardle.example.com' },
      spec: {
        group: 'wardle.example.com',
        version: 'v1alpha1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        caBundle: Buffer.from(pki.ca.certPem).toString('base64'),
        service: { namespace, name: SERVICE, port },
      },
    },
  };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaryPath, programName } from './binaries.js';
import { eventually, GiveUp } from './eventually.js';
import { freePort } from './free-port.js';
import { call, type Endpoint } from './http-client.js';
import type { KubeVersion } from './pinned-versions.js';
import { type KeyPair, type Pki, servingHosts } from './pki.js';
import { RigProcess } from './process.js';

export interface ControllerManagerOptions {
  readonly dir: string;
  readonly pki: Pki;
  readonly address: string;
  /** Of the API server that it works for. */
  readonly serverUrl: string;
  readonly controllers: readonly string[];
  /** Its release. */
  readonly version?: KubeVersion;
  /** The encoding of its requests and of most answers; JSON by default. */
  readonly contentType?: string;
}

/** The one that runs where no other is asked for. */
export const CONTROLLER_MANAGER_VERSION: KubeVersion = 'v1.36.4';

const READY_TIMEOUT_MS = 60_000;

/**
 * A real kube-controller-manager, set up as kubeadm does it: it is elected, and each controller works under its own
 * service account, with no more rights than the default roles give it.
 */
export class ControllerManager {
  readonly process: RigProcess;

  private constructor(
    private readonly options: ControllerManagerOptions,
    private readonly port: number,
  ) {
    this.process = new RigProcess({
      name: 'kube-controller-manager',
      command: binaryPath(programName('kube-controller-manager', options.version ?? CONTROLLER_MANAGER_VERSION)),
      args: this.flags(),
      logFile: join(options.dir, 'kube-controller-manager.log'),
    });
  }

  static async start(options: ControllerManagerOptions): Promise<ControllerManager> {
    const manager = new ControllerManager(options, await freePort(options.address));
    await eventually(
      `it leads (log: ${manager.process.options.logFile})`,
      () => {
        if (!manager.process.running) throw new GiveUp(`it ended:\n${manager.process.logTail()}`);
        return /successfully acquired lease/i.test(manager.process.log());
      },
      { timeoutMs: READY_TIMEOUT_MS },
    );
    return manager;
  }

  /** Its own pages, asked as the admin: it has the API server check who asks, and whether they may. */
  async page(path: string): Promise<{ status: number; text: string }> {
    const { address, pki } = this.options;
    const admin: Endpoint = {
      url: `https://${address}:${this.port}`,
      ca: pki.ca.certPem,
      clientCert: pki.users.admin,
    };
    return call(admin, path);
  }

  /** Lines of the log that tell of an error, without those that are expected. */
  errors(expected: readonly RegExp[]): string[] {
    return this.process
      .log()
      .split('\n')
      .filter((line) => /^[EF]\d{4} |^panic|unhandled error/i.test(line) && !expected.some((each) => each.test(line)));
  }

  private flags(): string[] {
    const { dir, pki, address, serverUrl, controllers, contentType = 'application/json' } = this.options;
    const serving = pki.ca.issue('controller-manager-serving', {
      commonName: 'kube-controller-manager',
      hosts: servingHosts(address),
    });
    const user = pki.ca.issue('controller-manager', { commonName: 'system:kube-controller-manager' });
    const kubeconfig = join(dir, 'controller-manager.kubeconfig');
    writeFileSync(kubeconfig, kubeconfigOf(serverUrl, pki, user), { mode: 0o600 });
    return [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--bind-address=${address}`,
      `--secure-port=${this.port}`,
      `--tls-cert-file=${serving.certFile}`,
      `--tls-private-key-file=${serving.keyFile}`,
      `--client-ca-file=${pki.ca.certFile}`,
      `--root-ca-file=${pki.ca.certFile}`,
      `--service-account-private-key-file=${pki.serviceAccountKey.privateFile}`,
      `--controllers=${controllers.join(',')}`,
      '--use-service-account-credentials=true',
      `--kube-api-content-type=${contentType}`,
      '--leader-elect=true',
      // A namespace that could not be emptied at once is looked at again before a scenario's patience ends.
      '--namespace-sync-period=30s',
      '--v=2',
    ];
  }
}

function kubeconfigOf(server: string, pki: Pki, user: KeyPair): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'rig',
    clusters: [{ name: 'rig', cluster: { server, 'certificate-authority-data': base64(pki.ca.certPem) } }],
    users: [
      {
        name: 'controller-manager',
        user: { 'client-certificate-data': base64(user.certPem), 'client-key-data': base64(user.keyPem) },
      },
    ],
    contexts: [{ name: 'rig', context: { cluster: 'rig', user: 'controller-manager' } }],
  });
}

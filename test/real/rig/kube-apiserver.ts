import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaryPath, programName } from './binaries.js';
import { eventually, GiveUp } from './eventually.js';
import { call, type Endpoint } from './http-client.js';
import type { KubeVersion } from './pinned-versions.js';
import { type KeyPair, type Pki, servingHosts } from './pki.js';
import { type Exit, RigProcess } from './process.js';
import { isSince, NATIVE_BY_DEFAULT_SINCE } from './version-facts.js';

/** Options that may differ between two runs of one kube-apiserver. */
export interface KubeSettings {
  readonly version: KubeVersion;
  readonly flags: readonly string[];
  /** `--authorization-mode`; `Node,RBAC` by default. */
  readonly authorizationMode?: string;
  /** kube-apiserver's own mixed version proxy, switched on with all it needs. */
  readonly native?: boolean;
}

export interface KubeApiserverOptions {
  readonly name: string;
  readonly hostname: string;
  readonly address: string;
  readonly port: number;
  readonly dir: string;
  readonly etcdUrl: string;
  readonly pki: Pki;
}

/** Requests and users in the audit log of a server: the proof of where a request was served. */
export interface AuditEvent {
  /** The same in all events of one request; a watch has one when it begins and one when it ends. */
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly impersonatedUser?: { readonly username: string };
  readonly responseStatus?: { readonly code: number };
  readonly sourceIPs?: readonly string[];
}

const READY_TIMEOUT_MS = 90_000;
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

/** One real kube-apiserver. Address and port stay the same over restarts, version and flags need not. */
export class KubeApiserver {
  process: RigProcess | undefined;
  settings: KubeSettings | undefined;
  private servingCert: KeyPair | undefined;

  constructor(readonly options: KubeApiserverOptions) {}

  get url(): string {
    return `https://${this.options.address}:${this.options.port}`;
  }

  get running(): boolean {
    return this.process?.running === true;
  }

  get admin(): Endpoint {
    const { pki } = this.options;
    return { url: this.url, ca: pki.ca.certPem, clientCert: pki.users.admin };
  }

  /** Starts the process and returns at once; `ready` waits. */
  launch(settings: KubeSettings): void {
    const { name, dir, pki, address } = this.options;
    this.servingCert ??= pki.ca.issue(`kube-apiserver-${name}`, {
      commonName: 'kube-apiserver',
      hosts: servingHosts(address),
    });
    writeFileSync(join(dir, 'audit-policy.json'), JSON.stringify(AUDIT_POLICY));
    this.settings = settings;
    this.process = new RigProcess({
      name: `kube-apiserver ${name}`,
      command: binaryPath(programName('kube-apiserver', settings.version)),
      args: [
        ...this.baseFlags(this.servingCert),
        `--authorization-mode=${settings.authorizationMode ?? 'Node,RBAC'}`,
        ...(settings.native ? this.nativeFlags(settings) : []),
        ...settings.flags,
      ],
      logFile: join(dir, `kube-apiserver-${name}.log`),
      hostname: this.options.hostname,
    });
  }

  async start(settings: KubeSettings): Promise<void> {
    this.launch(settings);
    await this.ready();
  }

  async ready(): Promise<void> {
    const { process } = this;
    if (process === undefined) throw new Error(`kube-apiserver ${this.options.name} was never started`);
    await eventually(
      `${process.name} is ready (log: ${process.options.logFile})`,
      async () => {
        if (!process.running) throw new GiveUp(`${process.name} ended:\n${process.logTail()}`);
        const answer = await call(this.admin, '/readyz', { timeoutMs: 3_000 });
        if (answer.status !== 200) throw new Error(answer.text.slice(-400));
        return true;
      },
      { timeoutMs: READY_TIMEOUT_MS, intervalMs: 200 },
    );
  }

  async stop(): Promise<Exit | undefined> {
    return this.process?.stop();
  }

  async kill(): Promise<Exit | undefined> {
    return this.process?.kill();
  }

  /** Returns the current end of the audit log, to read only later lines. */
  auditPosition(): number {
    return existsSync(this.auditFile) ? statSync(this.auditFile).size : 0;
  }

  auditSince(position: number): AuditEvent[] {
    if (!existsSync(this.auditFile)) return [];
    const lines = readFileSync(this.auditFile).subarray(position).toString('utf8').split('\n');
    lines.pop();
    return lines.map((line) => JSON.parse(line) as AuditEvent);
  }

  private get auditFile(): string {
    return join(this.options.dir, `audit-${this.options.name}.jsonl`);
  }

  private baseFlags(serving: KeyPair): string[] {
    const { address, port, dir, etcdUrl, pki } = this.options;
    return [
      `--etcd-servers=${etcdUrl}`,
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${serving.certFile}`,
      `--tls-private-key-file=${serving.keyFile}`,
      `--client-ca-file=${pki.ca.certFile}`,
      `--requestheader-client-ca-file=${pki.frontProxyCa.certFile}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${pki.frontProxyClient.certFile}`,
      `--proxy-client-key-file=${pki.frontProxyClient.keyFile}`,
      `--kubelet-client-certificate=${pki.kubeletClient.certFile}`,
      `--kubelet-client-key=${pki.kubeletClient.keyFile}`,
      `--kubelet-certificate-authority=${pki.ca.certFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${pki.serviceAccountKey.publicFile}`,
      `--service-account-signing-key-file=${pki.serviceAccountKey.privateFile}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--allow-privileged=true',
      // Loopback addresses are not allowed in EndpointSlices, and 1.37 does not start with another reconciler on one.
      '--endpoint-reconciler-type=none',
      // A graceful stop must not take longer than a scenario.
      '--shutdown-delay-duration=0s',
      '--shutdown-watch-termination-grace-period=1s',
      `--audit-policy-file=${join(dir, 'audit-policy.json')}`,
      `--audit-log-path=${this.auditFile}`,
      '--event-ttl=10m',
      '--profiling=false',
    ];
  }

  private nativeFlags({ version }: KubeSettings): string[] {
    const { address, port, pki } = this.options;
    return [
      ...(isSince(version, NATIVE_BY_DEFAULT_SINCE)
        ? []
        : ['--feature-gates=UnknownVersionInteroperabilityProxy=true']),
      `--peer-ca-file=${pki.ca.certFile}`,
      `--peer-advertise-ip=${address}`,
      `--peer-advertise-port=${port}`,
    ];
  }
}

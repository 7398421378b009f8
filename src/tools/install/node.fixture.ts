import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { HostPort } from '../../base/address.js';
import { makeCa, makeClient, makeServer } from '../../http/tls/pki.fixture.js';
import { kubeadmOutput } from './kubeadm-output.fixture.js';
import type { ProbeCredentials, ServerAnswer } from './server-probe.js';

const MANIFESTS = '/etc/kubernetes/manifests';
const PKI = '/etc/kubernetes/pki';
const ca = makeCa('kubernetes');
const frontProxyCa = makeCa('front-proxy-ca');
const serving = makeServer(ca, { dnsNames: ['kubernetes.default.svc'], ipAddresses: ['10.0.0.1'] });
const frontProxy = makeClient(frontProxyCa, { cn: 'front-proxy-client' });

/** An authority that has issued nothing on the node. */
export const OTHER_CA = makeCa('another').pem;

/** What goes wrong on a node. */
export interface Faults {
  /** Straddle never becomes ready, because its image cannot be pulled. */
  straddleNeverReady?: boolean;
  /** The kubelet does not look at its folder. */
  kubeletStopped?: boolean;
  rightsMissing?: boolean;
  /** What the container runtime says about the image. */
  hasImage?: boolean | undefined;
}

/** A virtual address, which this node may hold without a network interface that shows it. */
export const VIRTUAL_ADDRESS = '10.9.9.9';

/**
 * A control-plane node of kubeadm in a temporary folder, with certificates, and a kubelet that starts what the manifests say
 * two seconds after they were changed. Time passes in `delay` only.
 */
export class FakeNode {
  readonly root = mkdtempSync(join(tmpdir(), 'straddle-node-'));
  readonly faults: Faults = { hasImage: true };
  nowMs = 1_800_000_000_000;
  /** Called at the beginning of each delay. */
  onDelay: () => void = () => {};
  #hang: () => Promise<void> | undefined = () => undefined;
  #seen = '';
  #changedAtMs = 0;
  #running = { apiServer: '', straddle: false };

  constructor(manifest = kubeadmOutput('1.36')) {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    this.write(`${MANIFESTS}/kube-apiserver.yaml`, manifest);
    this.write(`${MANIFESTS}/etcd.yaml`, 'kind: Pod\n');
    this.write('/var/lib/kubelet/config.yaml', `kind: KubeletConfiguration\nstaticPodPath: ${MANIFESTS}\n`);
    this.write(`${PKI}/ca.crt`, ca.pem);
    this.write(`${PKI}/apiserver.crt`, serving.pem);
    this.write(`${PKI}/apiserver.key`, serving.keyPem);
    this.write(`${PKI}/front-proxy-ca.crt`, frontProxyCa.pem);
    this.write(`${PKI}/front-proxy-client.crt`, frontProxy.pem);
    this.write(`${PKI}/front-proxy-client.key`, frontProxy.keyPem);
    this.#start();
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text, { mode: 0o600 });
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path));
  }

  /** Path, mode and content of every file, and the folders. */
  snapshot(): Record<string, string> {
    const all = readdirSync(this.root, { recursive: true, encoding: 'utf8' }).sort();
    return Object.fromEntries(
      all.map((path) => {
        const status = statSync(join(this.root, path));
        return [path, status.isFile() ? `${status.mode.toString(8)} ${this.read(path)}` : 'folder'];
      }),
    );
  }

  /** Resolves when a delay begins that never ends, as for a process that was killed; `count` delays end before. */
  hangInDelay(count: number): Promise<void> {
    return new Promise((resolve) => {
      let left = count;
      this.#hang = () => {
        if (left-- > 0) return undefined;
        resolve();
        return new Promise(() => {});
      };
    });
  }

  /** Delays end again. */
  revive(): void {
    this.#hang = () => undefined;
  }

  readonly delay = async (ms: number): Promise<void> => {
    this.onDelay();
    await this.#hang();
    this.nowMs += ms;
    this.#lookAtManifests();
  };

  readonly ask = async ({ host }: HostPort, target: string, shown?: ProbeCredentials): Promise<ServerAnswer> => {
    this.#lookAtManifests();
    if (shown && shown.ca !== ca.pem) return { kind: 'failure', why: 'certificate signed by unknown authority' };
    const { apiServer, straddle } = this.#running;
    const isHere = ['127.0.0.1', '10.0.0.1', VIRTUAL_ADDRESS].includes(host);
    const isApiServer = host === '127.0.0.1' ? apiServer !== '' : isHere && apiServer === 'everywhere';
    if (isApiServer) {
      const status = this.faults.rightsMissing && target !== '/readyz' ? 403 : 200;
      return { kind: 'answer', status, isStraddle: false };
    }
    if (host === '10.0.0.1' && straddle) {
      if (this.read(`${PKI}/ca.crt`) === ca.pem) return { kind: 'answer', status: 200, isStraddle: true };
      return { kind: 'answer', status: 503, isStraddle: true, problem: '[-]api-server failed: nobody takes requests' };
    }
    return { kind: 'refused' };
  };

  #lookAtManifests(): void {
    const names = readdirSync(join(this.root, MANIFESTS)).filter((name) => !name.startsWith('.'));
    const seen = names.map((name) => name + this.read(`${MANIFESTS}/${name}`)).join();
    if (this.faults.kubeletStopped) return;
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#changedAtMs = this.nowMs;
      this.#running = { apiServer: '', straddle: false };
    } else if (this.nowMs - this.#changedAtMs >= 2_000) this.#start();
  }

  #start(): void {
    const isMoved = this.read(`${MANIFESTS}/kube-apiserver.yaml`).includes('--bind-address=127.0.0.1');
    const hasStraddle = this.has(`${MANIFESTS}/straddle.yaml`) && !this.faults.straddleNeverReady;
    // Whoever comes second to an address does not get it.
    this.#running = { apiServer: isMoved ? 'loopback' : 'everywhere', straddle: hasStraddle && isMoved };
    const names = readdirSync(join(this.root, MANIFESTS)).filter((name) => !name.startsWith('.'));
    this.#seen = names.map((name) => name + this.read(`${MANIFESTS}/${name}`)).join();
  }
}

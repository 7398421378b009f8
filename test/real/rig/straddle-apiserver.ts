import { join } from 'node:path';
import { EmbeddedServer } from './embedded-server.js';
import type { KubeSettings } from './kube-apiserver.js';
import { type Pki, servingHosts } from './pki.js';
import type { StraddleFlags } from './straddle.js';

export interface StraddleApiserverOptions {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly dir: string;
  readonly pki: Pki;
}

const SETTINGS: KubeSettings = { version: 'v1.36.4', flags: [] };

/**
 * One `straddle apiserver` alone on its embedded store, with the certificates and flags that the rig gives a
 * kube-apiserver: it knows the same users and gives out addresses of the same range.
 */
export class StraddleApiserver extends EmbeddedServer {
  readonly #pki: Pki;

  constructor({ name, address, port, dir, pki }: StraddleApiserverOptions) {
    const dataDir = join(dir, `data-${name}`);
    super({ name, serverName: name, address, port, dir, dataDir, pki: () => pki, withPeers: true });
    this.#pki = pki;
  }

  override start(settings = SETTINGS, flags: StraddleFlags = {}): Promise<void> {
    return super.start(settings, { ...this.#flags(), ...flags });
  }

  #flags(): StraddleFlags {
    const { name, address, dir } = this.options;
    const serving = this.#pki.ca.issue(`straddle-apiserver-${name}`, {
      commonName: 'kube-apiserver',
      hosts: servingHosts(address),
    });
    return {
      'state-dir': join(dir, `state-${name}`),
      'tls-cert-file': serving.certFile,
      'tls-private-key-file': serving.keyFile,
      'client-ca-file': this.#pki.ca.certFile,
      'requestheader-client-ca-file': this.#pki.frontProxyCa.certFile,
      'requestheader-allowed-names': 'front-proxy-client',
      'proxy-client-cert-file': this.#pki.frontProxyClient.certFile,
      'proxy-client-key-file': this.#pki.frontProxyClient.keyFile,
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': this.#pki.serviceAccountKey.publicFile,
      'service-account-signing-key-file': this.#pki.serviceAccountKey.privateFile,
      'service-cluster-ip-range': '10.96.0.0/16',
      'event-ttl': '10m',
    };
  }
}

import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeServer } from '../../src/http/tls/pki.fixture.js';
import { kubeadmOutput } from '../../src/tools/install/kubeadm-output.fixture.js';
import { makeCertificates } from '../integration/certificates.js';
import { NODE_ADDRESS } from './container-engine.js';

/** The user of the image. */
export const IMAGE_USER = 65_532;

/** The files of a kubeadm node: certificates, and the manifest of its kube-apiserver as kubeadm 1.36 wrote it. */
export interface NodeFiles {
  /** Certificates and keys that root owns, as kubeadm writes them. */
  readonly pki: string;
  /** The same, owned by the user of the image. */
  readonly userPki: string;
  readonly manifest: string;
}

export function makeNodeFiles(folder: string): NodeFiles {
  const certificates = makeCertificates();
  try {
    const ipAddresses = ['127.0.0.1', NODE_ADDRESS];
    const serving = makeServer(certificates.ca, { dnsNames: ['kubernetes.default.svc'], ipAddresses });
    certificates.write('apiserver.crt', serving.pem);
    certificates.write('apiserver.key', serving.keyPem);
    const [pki, userPki] = [join(folder, 'pki'), join(folder, 'user-pki')];
    for (const [target, owner] of [
      [pki, 0],
      [userPki, IMAGE_USER],
    ] as const) {
      mkdirSync(target);
      for (const name of readdirSync(certificates.directory)) {
        cpSync(certificates.file(name), join(target, name));
        chownSync(join(target, name), owner, owner);
        if (name.endsWith('.key')) chmodSync(join(target, name), 0o600);
      }
    }
    const manifest = join(folder, 'kube-apiserver.yaml');
    writeFileSync(manifest, kubeadmOutput('1.36').replaceAll('/etc/kubernetes/pki', pki));
    return { pki, userPki, manifest };
  } finally {
    certificates.remove();
  }
}

import { describe, expect, it } from 'vitest';
import { makeCa, makeIntermediate, makeServer } from '../../http/tls/pki.fixture.js';
import { checkCertificates } from './certificate-checks.js';
import { HostFiles } from './host-files.js';
import { readOutput } from './kubeadm-output.fixture.js';
import { FakeNode } from './node.fixture.js';
import { sidecarOf } from './sidecar.js';

const PKI = '/etc/kubernetes/pki';
const ca = makeCa('company root');
const intermediate = makeIntermediate(ca, 'company servers');
const serving = makeServer(intermediate, { dnsNames: ['kubernetes.default.svc'], ipAddresses: ['10.0.0.1'] });

function findings(chain: readonly { readonly pem: string }[]): readonly string[] {
  const node = new FakeNode();
  node.write(`${PKI}/ca.crt`, ca.pem);
  node.write(`${PKI}/apiserver.crt`, chain.map(({ pem }) => pem).join(''));
  const manifest = readOutput();
  const checks = { files: new HostFiles(node.root), manifest, sidecar: sidecarOf(manifest), nowMs: Date.now() };
  return checkCertificates(checks).map(({ verdict, check }) => `${verdict} ${check}`);
}

describe('checkCertificates', () => {
  it('follows the intermediate authorities in the file of the serving certificate', () => {
    expect(findings([serving, intermediate])).toContain('ok serving certificate');
  });

  it('fails where an intermediate authority is missing, and comes to an end where authorities go round', () => {
    expect(findings([serving])).toContain('FAIL serving certificate');
    const other = makeCa('other root');
    const stranger = makeServer(other, { dnsNames: ['kubernetes.default.svc'], ipAddresses: ['10.0.0.1'] });
    expect(findings([stranger, other])).toContain('FAIL serving certificate');
  });
});

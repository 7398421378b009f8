import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCa, makeClient, makeServer, type TestCertificate } from '../../src/http/tls/pki.fixture.js';

/** The certificates of one control plane, as kubeadm lays them out, in files of a directory of their own. */
export interface Certificates {
  readonly directory: string;
  readonly ca: TestCertificate;
  readonly frontProxyCa: TestCertificate;
  readonly frontProxy: TestCertificate;
  readonly server: TestCertificate;
  file(name: string): string;
  write(name: string, content: string): string;
  user(cn: string, ...organizations: string[]): TestCertificate;
  remove(): void;
}

export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'straddle-'));
  const ca = makeCa('kubernetes');
  const frontProxyCa = makeCa('front-proxy-ca');
  const frontProxy = makeClient(frontProxyCa, { cn: 'front-proxy-client' });
  const server = makeServer(ca, { dnsNames: ['kubernetes.default.svc', 'localhost'], ipAddresses: ['127.0.0.1'] });
  const write = (name: string, content: string) => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  write('ca.crt', ca.pem);
  write('front-proxy-ca.crt', frontProxyCa.pem);
  write('front-proxy-client.crt', frontProxy.pem);
  write('front-proxy-client.key', frontProxy.keyPem);
  write('server.crt', server.pem);
  write('server.key', server.keyPem);
  return {
    directory,
    ca,
    frontProxyCa,
    frontProxy,
    server,
    file: (name) => join(directory, name),
    write,
    user: (cn, ...organizations) => makeClient(ca, { cn, organizations }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

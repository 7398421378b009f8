import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../../test/real/rig/debian-program.js';
import { freePort } from '../../test/real/rig/free-port.js';
import { type Pki, servingHosts } from '../../test/real/rig/pki.js';
import { RigProcess } from '../../test/real/rig/process.js';
import { type Contestant, HAPROXY } from './contestant.js';
import { listening } from './listening.js';

const ADDRESS = '127.0.0.32';

/** HAProxy before one kube-apiserver: one thread, TLS and HTTP/2 on both sides. */
export async function startHaproxy(dir: string, pki: Pki, upstreamUrl: string): Promise<Contestant> {
  const program = requireProgram('haproxy', 'haproxy');
  const port = await freePort(ADDRESS);
  const serving = pki.ca.issue('haproxy', { commonName: 'haproxy', hosts: servingHosts(ADDRESS) });
  const both = join(dir, 'haproxy.pem');
  writeFileSync(both, `${serving.certPem}${serving.keyPem}`, { mode: 0o600 });
  const config = join(dir, 'haproxy.cfg');
  writeFileSync(
    config,
    `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend in
  bind ${ADDRESS}:${port} ssl crt ${both} alpn h2,http/1.1
  default_backend kube
backend kube
  http-reuse always
  server b ${new URL(upstreamUrl).host} ssl verify required ca-file ${pki.ca.certFile} verifyhost kubernetes alpn h2
`,
  );
  const process = new RigProcess({
    name: 'haproxy',
    command: program,
    args: ['-db', '-f', config],
    logFile: join(dir, 'haproxy.log'),
  });
  await listening(process, ADDRESS, port);
  return { name: HAPROXY, url: `https://${ADDRESS}:${port}`, proxyPid: process.pid };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../../test/real/rig/debian-program.js';
import { freePort } from '../../test/real/rig/free-port.js';
import { type Pki, servingHosts } from '../../test/real/rig/pki.js';
import { RigProcess } from '../../test/real/rig/process.js';
import { type Contestant, NGINX } from './contestant.js';
import { listening } from './listening.js';

const ADDRESS = '127.0.0.31';

/** nginx before one kube-apiserver: one worker, TLS on both sides, HTTP/2 in and kept HTTP/1.1 connections out. */
export async function startNginx(dir: string, pki: Pki, upstreamUrl: string): Promise<Contestant> {
  const program = requireProgram('nginx', 'nginx-light');
  const port = await freePort(ADDRESS);
  const serving = pki.ca.issue('nginx', { commonName: 'nginx', hosts: servingHosts(ADDRESS) });
  const config = join(dir, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off;
# One process, whose CPU time is then all there is.
master_process off;
pid ${join(dir, 'nginx.pid')};
error_log ${join(dir, 'nginx-error.log')};
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${join(dir, 'nginx-body')};
  proxy_temp_path ${join(dir, 'nginx-proxy')};
  fastcgi_temp_path ${join(dir, 'nginx-fastcgi')};
  uwsgi_temp_path ${join(dir, 'nginx-uwsgi')};
  scgi_temp_path ${join(dir, 'nginx-scgi')};
  client_max_body_size 8m;
  upstream kube {
    server ${new URL(upstreamUrl).host};
    keepalive 256;
    keepalive_requests 1000000;
  }
  server {
    listen ${ADDRESS}:${port} ssl http2;
    ssl_certificate ${serving.certFile};
    ssl_certificate_key ${serving.keyFile};
    keepalive_requests 1000000;
    location / {
      proxy_pass https://kube;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host kubernetes;
      proxy_ssl_verify on;
      proxy_ssl_name kubernetes;
      proxy_ssl_trusted_certificate ${pki.ca.certFile};
    }
  }
}
`,
  );
  const process = new RigProcess({
    name: 'nginx',
    command: program,
    args: ['-c', config],
    logFile: join(dir, 'nginx.log'),
  });
  await listening(process, ADDRESS, port);
  return { name: NGINX, url: `https://${ADDRESS}:${port}`, proxyPid: process.pid };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../../real/rig/debian-program.js';
import { RigProcess } from '../../real/rig/process.js';
import { BALANCER_ADDRESS, type Machine, PORT } from './machine.js';

/** HAProxy before all machines: connections, not requests, and a server counts as up while its /readyz is good. */
export function startLoadBalancer(dir: string, machines: readonly Machine[]): RigProcess {
  const config = join(dir, 'haproxy.cfg');
  const servers = machines.map(
    ({ name, address }) => `  server ${name} ${address}:${PORT} check check-ssl verify none\n`,
  );
  writeFileSync(
    config,
    `global
  maxconn 4096
defaults
  mode tcp
  timeout connect 2s
  timeout check 5s
  timeout client 1h
  timeout server 1h
  retries 3
  option redispatch 1
frontend control-plane
  bind ${BALANCER_ADDRESS}:${PORT}
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server inter 1s fall 2 rise 2
${servers.join('')}`,
  );
  return new RigProcess({
    name: 'haproxy',
    command: requireProgram('haproxy', 'haproxy'),
    args: ['-db', '-f', config],
    logFile: join(dir, 'haproxy.log'),
  });
}

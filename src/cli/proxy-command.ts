import type { Command } from 'commander';
import { loadProxyConfig } from '../compose/config/load-proxy-config.js';
import type { ProxyConfig } from '../compose/config/proxy-config.js';
import { addServerCommand, type ServerCommandOptions } from './serve.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
Straddle stands in front of one kube-apiserver, one Straddle per API server. Give it that server's own flags and where
it listens now; what this server does not serve is carried to a peer that does, and every client sees the complete
discovery of the whole control plane.

Examples:
  Beside a kubeadm kube-apiserver that was moved to port 7443:
  $ cd /etc/kubernetes/pki && straddle proxy --upstream=https://127.0.0.1:7443 --secure-port=6443 \\
      --tls-cert-file=apiserver.crt --tls-private-key-file=apiserver.key \\
      --client-ca-file=ca.crt --peer-ca-file=ca.crt \\
      --requestheader-client-ca-file=front-proxy-ca.crt --requestheader-allowed-names=front-proxy-client \\
      --proxy-client-cert-file=front-proxy-client.crt --proxy-client-key-file=front-proxy-client.key

  The same from a file (keys are the flags' names):
  $ straddle proxy --config=/etc/straddle/straddle.yaml

  Known peers only, nothing looked up:
  $ straddle proxy --config=straddle.yaml --peer-sources= --peer=https://10.0.0.2:6443
`;

export function addProxyCommand(
  program: Command,
  surroundings: Surroundings,
  options: ServerCommandOptions<ProxyConfig>,
): void {
  addServerCommand(program, surroundings, {
    name: 'proxy',
    description: 'Stand in front of one kube-apiserver and answer for the whole control plane',
    examples: EXAMPLES,
    load: loadProxyConfig,
    ...options,
  });
}

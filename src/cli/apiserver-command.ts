import type { Command } from 'commander';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import type { ApiServerConfig } from '../compose/config/api-server-config.js';
import { loadApiServerConfig } from '../compose/config/load-api-server-config.js';
import { addServerCommand, type ServerCommandOptions } from './serve.js';
import type { Surroundings } from './surroundings.js';

const [BEFORE, NEWEST] = shippedVersions().slice(-2);

const EXAMPLES = `
A Kubernetes API server of its own, with the whole chain before it: no cluster is needed. Certificates are made in the
data folder, and <data-dir>/kubeconfig appears there when the server is ready.

Examples:
  On this machine, with the newest API:
  $ straddle apiserver --data-dir=./data --secure-port=7443 &
  $ kubectl --kubeconfig=./data/kubeconfig get namespaces

  Two versions on one store, each answering for both:
  $ straddle apiserver --data-dir=./data --server-name=a --kubernetes-version=${BEFORE} --secure-port=7443 &
  $ straddle apiserver --data-dir=./data --server-name=b --kubernetes-version=${NEWEST} --secure-port=7444 &

  With etcd, when one machine is not enough:
  $ straddle apiserver --data-dir=./data --etcd-servers=https://10.0.0.1:2379 --etcd-cafile=etcd-ca.crt
`;

export function addApiServerCommand(
  program: Command,
  surroundings: Surroundings,
  options: ServerCommandOptions<ApiServerConfig>,
): void {
  addServerCommand(program, surroundings, {
    name: 'apiserver',
    description: 'Run an API server of its own, on an embedded store or on etcd',
    examples: EXAMPLES,
    load: loadApiServerConfig,
    ...options,
  });
}

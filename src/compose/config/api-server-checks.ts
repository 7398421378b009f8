import { notShipped } from '../../apiserver/surfaces/shipped-versions.js';
import { isLoopback, isUnspecified } from './addresses.js';
import type { ApiServerConfig } from './api-server-config.js';
import type { FlagValues } from './flag-values.js';
import { checkServer, type Findings } from './server-checks.js';

export function checkApiServerConfig(config: ApiServerConfig, values: FlagValues, findings: Findings): void {
  const { wrong } = findings;
  if (config.dataDir === '') {
    wrong('Give --data-dir: the store, certificates and the kubeconfig are kept there.');
    return;
  }
  checkServer(config, values, findings);
  checkAddress(config, values, findings);
  checkStorage(config, findings);
  checkApi(config, findings);
  if (config.limits.workers > 1) {
    wrong(
      `--workers=${config.limits.workers}: an API server of its own is one process. For several cores start several on one --data-dir (or one etcd), each with its own --server-name and --secure-port.`,
    );
  }
}

/** An address for other machines is a mistake while the server listens for this machine alone. */
function checkAddress({ bindAddress }: ApiServerConfig, values: FlagValues, { wrong }: Findings): void {
  if (values.source('bind-address') !== undefined) return;
  for (const flag of ['advertise-address', 'peer-advertise-ip'] as const) {
    const ip = values.ip(flag);
    if (ip === undefined || isLoopback(ip) || isUnspecified(ip)) continue;
    wrong(
      `--${flag}=${ip}, but this server listens on ${bindAddress} only: give --bind-address too, ${ip} or 0.0.0.0 for every address.`,
    );
  }
}

function checkStorage({ etcd }: ApiServerConfig, { wrong }: Findings): void {
  if (!etcd) return;
  for (const endpoint of etcd.endpoints) {
    if (!/^https?:\/\/[^/]+\/?$/.test(endpoint))
      wrong(`--etcd-servers: ${endpoint} is not a URL such as https://10.0.0.1:2379.`);
  }
  if ((etcd.certFile === undefined) !== (etcd.keyFile === undefined)) {
    wrong('--etcd-certfile and --etcd-keyfile belong together: give both.');
  }
}

function checkApi(config: ApiServerConfig, { wrong }: Findings): void {
  const { kubernetesVersion, runtimeConfig, serviceCidr, surfaceFile } = config;
  const problem = kubernetesVersion === undefined ? undefined : notShipped(kubernetesVersion);
  if (problem !== undefined) {
    wrong(
      `--kubernetes-version: ${problem}; the API of another version can be captured with \`straddle surface capture\` and served with --surface-file.`,
    );
  }
  if (kubernetesVersion !== undefined && surfaceFile !== undefined) {
    wrong('--kubernetes-version and --surface-file both say which API to serve: give one of them.');
  }
  for (const entry of runtimeConfig) {
    if (!/^[a-z0-9.-]+(\/[a-z0-9.-]+){0,2}(=(true|false))?$/.test(entry)) {
      wrong(`--runtime-config: ${entry} is not like batch/v1=false, batch/v1/jobs=false or api/all=true.`);
    }
  }
  if (!/^[0-9a-f.:]+\/\d{1,3}$/i.test(serviceCidr))
    wrong(`--service-cluster-ip-range=${serviceCidr} is not a range such as 10.96.0.0/16.`);
}

import { load } from 'js-yaml';
import { formatHostPort, isSameAddress, parseHostPort } from '../../base/address.js';
import { readConfigFile } from '../../compose/config/config-file.js';
import { objectOrEmpty } from '../../kube/json.js';
import type { ApiServerManifest } from './api-server-manifest.js';
import { type Machine, otherOwnAddress } from './endpoints.js';
import { type Finding, findingsOf } from './finding.js';

export const KUBEADM_CONFIG = 'the ConfigMap kube-system/kubeadm-config';
export const KUBEADM_CONFIG_TARGET = '/api/v1/namespaces/kube-system/configmaps/kubeadm-config';

/** The `ClusterConfiguration` of a cluster, as text, or why it could not be read. */
export type KubeadmConfig = { readonly text: string } | { readonly unreadable: string };

/** Checks whether the next manifest that kubeadm generates will still fit, and where the clients of the cluster go. */
export async function checkKubeadmConfig(
  config: KubeadmConfig,
  manifest: ApiServerManifest,
  machine: Machine,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const { ok, warn, fail } = findingsOf('kubeadm configuration', findings);
  if ('unreadable' in config) {
    warn(`${KUBEADM_CONFIG} could not be read (${config.unreadable}), so what kubeadm will generate was not checked.`);
    return findings;
  }
  const { layers, problems } = readConfigFile(KUBEADM_CONFIG, config.text, 'proxy');
  for (const problem of problems) warn(problem);
  const extra = layers.find(({ origin }) => origin.includes('extraArgs'))?.values;
  const { node } = manifest;
  for (const [flag, now] of [
    ['secure-port', String(node.port)],
    ['advertise-address', node.host],
  ] as const) {
    const next = extra?.get(flag)?.at(-1);
    if (next !== undefined && !isSameAddress(next, now))
      fail(
        `apiServer.extraArgs has --${flag}=${next}, the manifest ${now}: the next upgrade would separate Straddle from its server.`,
      );
  }
  const bind = extra?.get('bind-address')?.at(-1);
  if (bind !== undefined)
    ok(`apiServer.extraArgs has --bind-address=${bind}; the patch appends a later one, which counts.`);
  const endpoint = controlPlaneEndpoint(config.text);
  if (endpoint === undefined) return findings;
  const { host } = parseHostPort(endpoint);
  const other = await otherOwnAddress(host, node, machine);
  if (other !== undefined) {
    fail(
      `controlPlaneEndpoint is ${endpoint}, which leads to ${other}, another address of this machine (a virtual one?), where nobody would listen.`,
    );
  } else ok(`controlPlaneEndpoint is ${endpoint}, which must lead to ${formatHostPort(node)}.`);
  return findings;
}

function controlPlaneEndpoint(text: string): string | undefined {
  try {
    const endpoint = objectOrEmpty(load(text))['controlPlaneEndpoint'];
    if (typeof endpoint !== 'string' || endpoint === '') return undefined;
    parseHostPort(endpoint);
    return endpoint;
  } catch {
    return undefined;
  }
}

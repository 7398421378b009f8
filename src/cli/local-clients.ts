import { join } from 'node:path';
import { ConfigError } from '../compose/config/config-error.js';
import { parseKubeconfig } from '../compose/config/kubeconfig.js';
import type { ClientComponent, ClientKubeconfig, LocalClients } from '../tools/inspect/traffic.js';
import { askerOptions } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

/** Where kubeadm puts the kubeconfigs of the components of a node. */
export const COMPONENTS_DIR = '/etc/kubernetes';

const FILES: readonly (readonly [ClientComponent, string])[] = [
  ['kube-controller-manager', 'controller-manager.conf'],
  ['kube-scheduler', 'scheduler.conf'],
  ['kubelet', 'kubelet.conf'],
];

/**
 * Returns the clients of the API servers that this machine shows by their kubeconfigs. Throws ConfigError for a folder that was named and
 * has none.
 */
export function localClients(folder: string | undefined, surroundings: Surroundings): LocalClients {
  const kubeconfigs = FILES.flatMap(([component, name]) =>
    clientKubeconfig(component, join(folder ?? COMPONENTS_DIR, name), surroundings),
  );
  if (folder !== undefined && kubeconfigs.length === 0) {
    const names = FILES.map(([, name]) => name).join(', ');
    throw new ConfigError([`--components-dir ${folder} has none of ${names}: name the folder that has them.`]);
  }
  const { hostname, addresses } = surroundings;
  return { kubeconfigs, areGiven: folder !== undefined, hostname, addresses };
}

/** None for a file that is not there. */
function clientKubeconfig(component: ClientComponent, path: string, surroundings: Surroundings): ClientKubeconfig[] {
  let text: string;
  try {
    text = surroundings.readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    const advice = code === 'EACCES' ? '; run this as root' : '';
    return [{ component, path, access: undefined, problem: `${path} cannot be read (${code})${advice}` }];
  }
  try {
    // Who answers at its server is asked without the component's own credentials, whose files may be readable by root only.
    const access = { ...parseKubeconfig(text, { path }), ...NO_CREDENTIALS };
    const { url, serverName, credentials } = askerOptions(access, surroundings);
    return [{ component, path, access: { url, serverName, credentials }, problem: undefined }];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ component, path, access: undefined, problem: error.problems.join(' ').replace(/\.$/, '') }];
  }
}

const NO_CREDENTIALS = { clientCert: undefined, clientKey: undefined, token: undefined, tokenFile: undefined };

import { API_SERVER, type ApiServerManifest, PROBES, type ProbeName } from './api-server-manifest.js';
import { bindArgument, yamlText } from './manifest-edit.js';

export interface NamedFile {
  readonly name: string;
  readonly text: string;
}

export const PATCHES_DIR = '/etc/kubernetes/patches';

/** The parts of a manifest that the patches depend on. */
export type Patched = Pick<ApiServerManifest, 'loopback' | 'probes'>;

/** For a node whose manifest is not known: the probes that kubeadm writes since 1.20. */
export const ANY_NODE: Patched = { loopback: { host: '127.0.0.1', port: 6443 }, probes: PROBES };

/**
 * Returns the patches with which kubeadm writes what `movedBehind` does. A strategic merge would replace the whole list of
 * arguments, so that one is a JSON patch, which appends; probes are merged by the name of the container, whatever else a
 * version of kubeadm writes there. kubeadm applies them in the order of their names.
 */
export function kubeadmPatches(patched: Patched): readonly NamedFile[] {
  const argument = JSON.stringify(bindArgument(patched));
  const probes = patched.probes.map((probe: ProbeName) => [probe, { httpGet: { host: patched.loopback.host } }]);
  return [
    {
      name: `${API_SERVER}-straddle+json.yaml`,
      text: `- op: add\n  path: /spec/containers/0/command/-\n  value: ${argument}\n`,
    },
    {
      name: `${API_SERVER}-straddle+strategic.yaml`,
      text: yamlText({ spec: { containers: [{ name: API_SERVER, ...Object.fromEntries(probes) }] } }),
    },
  ];
}

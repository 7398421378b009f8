import { readdirSync, readFileSync } from 'node:fs';
import { type ApiServerManifest, readApiServerManifest } from './api-server-manifest.js';

const FOLDER = new URL('./kubeadm-output/', import.meta.url);
export const MANIFEST_PATH = '/etc/kubernetes/manifests/kube-apiserver.yaml';

/**
 * What kubeadm wrote (`kubeadm init phase control-plane apiserver`, imageRepository images.example), by version and case.
 * `<name>-patched.manifest` is the same command with the patches of `kubeadmPatches`.
 */
export function kubeadmOutput(name: string): string {
  return readFileSync(new URL(`${name}.manifest`, FOLDER), 'utf8');
}

/** The names that have a patched form. */
export const KUBEADM_OUTPUTS: readonly string[] = readdirSync(FOLDER).flatMap(
  (file) => /^(.+)-patched\.manifest$/.exec(file)?.[1] ?? [],
);

export function readOutput(name = '1.36', change: (text: string) => string = (text) => text): ApiServerManifest {
  return readApiServerManifest(MANIFEST_PATH, change(kubeadmOutput(name)));
}

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../cluster/machine.js';

const ROOT = '/etc/kubernetes';

/** Kept by the test, and by kubeadm for itself; and what kubeadm renews with each upgrade. */
const NOT_COMPARED = /^(kubeadm\.yaml$|tmp\/|pki\/|[^/]+\.conf$)/;

/** The files below /etc/kubernetes of a machine, with their content; without those that `kubeadm upgrade` renews. */
export function filesOf(machine: Machine): ReadonlyMap<string, string> {
  const root = machine.path(ROOT);
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  return new Map(
    paths
      .filter((path) => !NOT_COMPARED.test(path) && statSync(join(root, path)).isFile())
      .map((path) => [path, readFileSync(join(root, path), 'latin1')]),
  );
}

/** The differences between two states of the files, as sentences. */
export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    if (!after.has(path)) return [`${path} is gone`];
    if (!before.has(path)) return [`${path} is new`];
    return before.get(path) === after.get(path) ? [] : [`${path} is another`];
  });
}

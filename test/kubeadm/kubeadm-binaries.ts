import { type Binary, INFORMERS, KUBE_PROGRAMS, kubeProgram, serverBinaries } from '../real/rig/binaries.js';
import { type KubeVersion, pinnedVersions } from '../real/rig/pinned-versions.js';

/** The versions of the upgrade: the two newest that are pinned. */
const [older, newer] = [...pinnedVersions().values()].slice(-2);
export const OLDER: KubeVersion = older!;
export const NEWER: KubeVersion = newer!;

/** What `npm run test:kubeadm` runs. */
export function kubeadmBinaries(): Binary[] {
  const ofVersions = [OLDER, NEWER].flatMap((version) => [
    ...serverBinaries(version),
    ...KUBE_PROGRAMS.map((program) => kubeProgram(program, version)),
  ]);
  return [
    ...new Map(
      [...ofVersions, kubeProgram('kubelet', OLDER), ...INFORMERS].map((binary) => [binary.name, binary]),
    ).values(),
  ];
}

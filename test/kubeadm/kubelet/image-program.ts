import { binaryPath, isExecutable, type KubeProgram, programName } from '../../real/rig/binaries.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import { straddleProgram } from '../../real/rig/program.js';
import type { PodManifest } from './pod-manifest.js';

/** The image that stands for this checkout; docs/guide/kubeadm.md has it in its commands. */
export const STRADDLE_IMAGE = 'registry.example/straddle:0.1.0';

/** Returns what runs in the place of an image; undefined for an image that cannot be had. */
export function programOf({
  image,
  command,
}: Pick<PodManifest, 'image' | 'command'>): [string, ...string[]] | undefined {
  const [, name, tag] = /([^/:]+):([^/:]+)$/.exec(image) ?? [];
  const [program, ...args] = command;
  if (image === STRADDLE_IMAGE && program === 'straddle') return [process.execPath, ...straddleProgram(), ...args];
  if (name !== program) return undefined;
  const path = binaryPath(name === 'etcd' ? name : programName(name as KubeProgram, tag as KubeVersion));
  return isExecutable(path) ? [path, ...args] : undefined;
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A release of Kubernetes: `v1.36.4`. */
export type KubeVersion = `v1.${number}.${number}`;

export const MODULES_DIR = fileURLToPath(new URL('../modules/', import.meta.url));
const FOLDER = /^kube-(\d+\.\d+)$/;

/** The releases that can be built, oldest first, by minor version: each `modules/kube-1.NN/go.mod` pins one. */
export function pinnedVersions(): ReadonlyMap<string, KubeVersion> {
  const minors = readdirSync(MODULES_DIR).flatMap((name) => FOLDER.exec(name)?.[1] ?? []);
  const byAge = minors.sort((left, right) => Number(left.split('.')[1]) - Number(right.split('.')[1]));
  return new Map(byAge.map((minor) => [minor, pinnedIn(minor)]));
}

/** The release that is meant by `1.36`, `1.36.4` or `v1.36.4`; undefined where that is not pinned. */
export function pinnedRelease(text: string): KubeVersion | undefined {
  const wanted = text.replace(/^v/, '');
  return [...pinnedVersions()].find(([minor, release]) => minor === wanted || release.slice(1) === wanted)?.[1];
}

function pinnedIn(minor: string): KubeVersion {
  const text = readFileSync(join(MODULES_DIR, moduleOf(minor), 'go.mod'), 'utf8');
  const version = /^\s*k8s\.io\/kubernetes (v1\.\d+\.\d+)$/m.exec(text)?.[1];
  if (version === undefined) throw new Error(`${moduleOf(minor)}/go.mod pins no release of k8s.io/kubernetes`);
  return version as KubeVersion;
}

/** The folder under `modules` of a minor version. */
export function moduleOf(minor: string): string {
  return `kube-${minor}`;
}

/** `1.36` of `v1.36.4`. */
export function minorOf(version: KubeVersion): string {
  return version.slice(1, version.lastIndexOf('.'));
}

/** 36 of `v1.36.4`. */
export function minorNumber(version: KubeVersion): number {
  return Number(version.split('.')[1]);
}

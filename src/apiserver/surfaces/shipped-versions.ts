import { readdirSync } from 'node:fs';

/** The folder of the surface files that ship with Straddle, one for each Kubernetes version. */
export const SHIPPED_SURFACES = new URL('./data/', import.meta.url);

/** A build compresses them. */
const SURFACE_NAME = /^(\d+\.\d+)\.json(?:\.gz)?$/;

let versions: readonly string[] | undefined;

/**
 * The Kubernetes minor versions whose surfaces ship with Straddle, oldest first: `1.33`, `1.34`, … This is the only list of
 * them: the names of the files in the folder, read once. The files themselves are read by `loadSurface`, each when needed.
 */
export function shippedVersions(): readonly string[] {
  versions ??= readdirSync(SHIPPED_SURFACES)
    .flatMap((name) => SURFACE_NAME.exec(name)?.[1] ?? [])
    .sort(byAge);
  return versions;
}

/** Undefined for a shipped version, else the sentence that refuses it, without its full stop. */
export function notShipped(version: string): string | undefined {
  const known = shippedVersions();
  if (known.includes(version)) return undefined;
  return `${version} does not come with Straddle; ${known.join(', ')} do`;
}

function byAge(left: string, right: string): number {
  const [leftMajor = 0, leftMinor = 0] = left.split('.').map(Number);
  const [rightMajor = 0, rightMinor = 0] = right.split('.').map(Number);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}

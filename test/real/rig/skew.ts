import type { ServerVersions } from './chosen-servers.js';
import type { KubeSettings } from './kube-apiserver.js';
import type { KubeVersion } from './pinned-versions.js';
import { flagsForNewerApis, newerApiText, oldestEmulated } from './version-facts.js';

interface SkewKind {
  flags(version: KubeVersion): readonly string[];
  text(servers: ServerVersions): string;
}

/** How server A differs from B and C. */
const KINDS = {
  default: {
    flags: () => [],
    text: (servers) => `A is ${servers.a.slice(1)} with default flags: ${newerApiText(servers)}`,
  },
  batch: {
    flags: () => ['--runtime-config=batch/v1=false'],
    text: ({ a }) => `A is ${a.slice(1)} without batch/v1: no jobs, no cronjobs`,
  },
  wide: {
    flags: (version) => [`--emulated-version=1.${oldestEmulated(version)}`],
    text: ({ a }) => `A is ${a.slice(1)} that emulates 1.${oldestEmulated(a)}: what came since is missing`,
  },
} as const satisfies Record<string, SkewKind>;

export type Skew = keyof typeof KINDS;
export const SKEWS = Object.keys(KINDS) as Skew[];

export function isSkew(name: string): name is Skew {
  return Object.hasOwn(KINDS, name);
}

export function skewText(skew: Skew, servers: ServerVersions): string {
  return KINDS[skew].text(servers);
}

/** Server A. */
export function olderSettings(version: KubeVersion, skew: Skew = 'default'): KubeSettings {
  return { version, flags: KINDS[skew].flags(version) };
}

/** Servers B and C, with APIs switched on that no older server knows. */
export function newerSettings(version: KubeVersion): KubeSettings {
  return { version, flags: flagsForNewerApis(version) };
}

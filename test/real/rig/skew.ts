import type { KubeSettings } from './kube-apiserver.js';

/** How server A differs from B and C. */
export const SKEWS = {
  default: {
    text: 'A is 1.35.8 with default flags: no scheduling.k8s.io/v1alpha2 podgroups',
    settings: { version: 'v1.35.8', flags: [] },
  },
  batch: {
    text: 'A is 1.35.8 without batch/v1: no jobs, no cronjobs',
    settings: { version: 'v1.35.8', flags: ['--runtime-config=batch/v1=false'] },
  },
  wide: {
    text: 'A is 1.35.8 that emulates 1.32: no pods/resize, no podgroups, older surfaces',
    settings: { version: 'v1.35.8', flags: ['--emulated-version=1.32'] },
  },
} as const satisfies Record<string, { text: string; settings: KubeSettings }>;

export type Skew = keyof typeof SKEWS;

export function isSkew(name: string): name is Skew {
  return Object.hasOwn(SKEWS, name);
}

/** Servers B and C: the newer version, with an API that no older server knows. */
export const NEWER: KubeSettings = {
  version: 'v1.36.4',
  flags: ['--feature-gates=GenericWorkload=true', '--runtime-config=scheduling.k8s.io/v1alpha2=true'],
};

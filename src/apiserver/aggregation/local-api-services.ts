import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../kube/json.js';

/** `groupPriorityMinimum` and `versionPriority`. */
type Priority = readonly [group: number, version: number];

/** Priorities of kube-apiserver's groups, by group and version: the same in every version of Kubernetes that serves one. */
const PRIORITIES = JSON.parse(
  readFileSync(new URL('./data/api-service-priorities.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Readonly<Record<string, Priority>>>>;
/** Groups of custom resource definitions are after all built-in ones. */
const CUSTOM_PRIORITY: Priority = [1000, 100];

export interface LocalGroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly origin: 'built-in' | 'custom';
}

/** `onstart`: created at the start of a server. `true`: kept in step with a definition. */
export const AUTOMANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';

/**
 * Makes the APIService objects of group-versions that this server serves itself. Built-in groups
 * without a priority have none, as in kube-apiserver. `now` is RFC 3339 in whole seconds.
 */
export function localApiServices(groupVersions: readonly LocalGroupVersion[], now: string): JsonObject[] {
  return groupVersions.flatMap(({ group, version, origin }) => {
    const priority = origin === 'custom' ? CUSTOM_PRIORITY : PRIORITIES[group]?.[version];
    if (priority === undefined) return [];
    return [
      {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: {
          name: `${version}.${group}`,
          labels: { [AUTOMANAGED_LABEL]: origin === 'custom' ? 'true' : 'onstart' },
        },
        spec: {
          ...(group === '' ? {} : { group }),
          version,
          groupPriorityMinimum: priority[0],
          versionPriority: priority[1],
        },
        status: { conditions: [{ ...LOCAL_CONDITION, lastTransitionTime: now }] },
      },
    ];
  });
}

export const LOCAL_CONDITION = {
  type: 'Available',
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
} as const;

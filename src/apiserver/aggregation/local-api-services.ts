import type { JsonObject } from '../../kube/json.js';
import { API_SERVICE_PRIORITIES, CUSTOM_PRIORITY } from './api-service-priorities.js';

export interface LocalGroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly origin: 'built-in' | 'custom';
}

/** Says that the server keeps the object: from its start on only, or in step with a definition. */
export const AUTOMANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';

/**
 * The APIService objects for what this server itself serves. Built-in groups without a priority get none, as in
 * kube-apiserver: they are served and not listed by the aggregator. `now` is RFC 3339 in whole seconds.
 */
export function localApiServices(groupVersions: readonly LocalGroupVersion[], now: string): JsonObject[] {
  return groupVersions.flatMap(({ group, version, origin }) => {
    const priority = origin === 'custom' ? CUSTOM_PRIORITY : builtInPriority(group, version);
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

export function builtInPriority(group: string, version: string): readonly [number, number] | undefined {
  const versions = Object.hasOwn(API_SERVICE_PRIORITIES, group) ? API_SERVICE_PRIORITIES[group]! : {};
  return Object.hasOwn(versions, version) ? versions[version] : undefined;
}

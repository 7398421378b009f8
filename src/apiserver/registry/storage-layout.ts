import type { GroupResource } from '../contracts/object-reader.js';
import { sharesCustomLayout } from './built-in-names.js';

export const REGISTRY_ROOT = '/registry/';

/** No group of a CustomResourceDefinition: those have a dot. */
const BUILT_IN_ROOT = `${REGISTRY_ROOT}built-in/`;

/**
 * Prefix of the keys of a built-in resource. It depends on nothing but the name, so that servers of all versions agree,
 * and it is never a prefix that `customResourcePrefix` returns (ADR 0007).
 */
export function builtInPrefix({ group, resource }: GroupResource): string {
  if (group === '') return `${REGISTRY_ROOT}${resource}/`;
  return `${isReserved({ group, resource }) ? REGISTRY_ROOT : BUILT_IN_ROOT}${group}/${resource}/`;
}

/** Whether the keys `/registry/<group>/<resource>/…` belong to a built-in resource, of whatever Kubernetes version. */
export function isReserved(what: GroupResource): boolean {
  return !what.group.includes('.') || sharesCustomLayout(what);
}

/** Prefix of the keys of custom resources. Throws ReservedPrefixError where built-in objects have their keys. */
export function customResourcePrefix({ group, resource }: GroupResource): string {
  if (isReserved({ group, resource })) throw new ReservedPrefixError(resource, group);
  return `${REGISTRY_ROOT}${group}/${resource}/`;
}

export class ReservedPrefixError extends Error {
  constructor(resource: string, group: string) {
    super(`${resource} in group ${JSON.stringify(group)} is built in to Kubernetes`);
    this.name = 'ReservedPrefixError';
  }
}

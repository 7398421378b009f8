import { apiPath } from '../../kube/gvr.js';

/** A parsed discovery path. */
export type DiscoveryPath =
  | { readonly kind: 'root'; readonly root: 'core' | 'groups' }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'version'; readonly group: string; readonly version: string }
  /** The merged aggregated document at a separate path, for people. */
  | { readonly kind: 'merged' };

const MERGED_DOCUMENT_PATH = '/apis/apidiscovery.k8s.io/v2';

/**
 * Names of groups and versions. Other characters are not discovery, and must not get into a request
 * line.
 */
const NAME = /^[\w.~-]{1,253}$/;

/**
 * Parses a decoded path; undefined if it is not discovery. One trailing slash is ignored, as in
 * kube-apiserver.
 */
export function parseDiscoveryPath(path: string): DiscoveryPath | undefined {
  if (!path.startsWith('/api')) return undefined;
  const clean = path.endsWith('/') ? path.slice(0, -1) : path;
  if (clean === '/api') return { kind: 'root', root: 'core' };
  if (clean === '/apis') return { kind: 'root', root: 'groups' };
  if (clean === MERGED_DOCUMENT_PATH) return { kind: 'merged' };

  const [, prefix, first = '', second, ...rest] = clean.split('/');
  if (!NAME.test(first) || (second !== undefined && !NAME.test(second)) || rest.length > 0) return undefined;
  if (prefix === 'api') return second === undefined ? { kind: 'version', group: '', version: first } : undefined;
  if (prefix !== 'apis') return undefined;
  return second === undefined ? { kind: 'group', group: first } : { kind: 'version', group: first, version: second };
}

/** Returns the canonical path, so that all spellings share one cached permission. */
export function pathOf(asked: DiscoveryPath): string {
  switch (asked.kind) {
    case 'root':
      return asked.root === 'core' ? '/api' : '/apis';
    case 'merged':
      return '/apis';
    case 'group':
      return `/apis/${asked.group}`;
    case 'version':
      return apiPath(asked.group, asked.version);
  }
}

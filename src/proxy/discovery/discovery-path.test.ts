import { describe, expect, it } from 'vitest';
import { parseDiscoveryPath, pathOf } from './discovery-path.js';

describe('parseDiscoveryPath', () => {
  it.each([
    ['/api', { kind: 'root', root: 'core' }],
    ['/apis/', { kind: 'root', root: 'groups' }],
    ['/api/v1', { kind: 'version', group: '', version: 'v1' }],
    ['/apis/batch', { kind: 'group', group: 'batch' }],
    ['/apis/batch/v1/', { kind: 'version', group: 'batch', version: 'v1' }],
    ['/apis/apidiscovery.k8s.io/v2', { kind: 'merged' }],
  ])('parses %s', (path, expected) => {
    expect(parseDiscoveryPath(path)).toEqual(expected);
  });

  it.each([
    '/',
    '/apix',
    '/api/v1/pods',
    '/apis/batch/v1/jobs',
    '/apis//v1',
    '/apis/batch//',
    '//apis',
    '/version',
    '/openapi/v2',
    '/apis/a b',
    '/apis/x\r\nHost: y',
    '/apis/a?b/v1',
    '/apis/caf\u00e9/v1',
  ])('returns undefined for %j', (path) => {
    expect(parseDiscoveryPath(path)).toBeUndefined();
  });

  it('pathOf returns the canonical path', () => {
    for (const path of ['/api', '/apis', '/api/v1', '/apis/batch', '/apis/batch/v1']) {
      expect(pathOf(parseDiscoveryPath(path)!)).toBe(path);
    }
    expect(pathOf({ kind: 'merged' })).toBe('/apis');
  });
});

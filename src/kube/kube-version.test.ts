import { describe, expect, it } from 'vitest';
import { compareApiVersions, compareServerVersions, isNewerServerVersion } from './kube-version.js';

describe('compareApiVersions', () => {
  it('sorts API versions by the priority of Kubernetes', () => {
    const versions = ['foo10', 'v1alpha1', 'v10', 'v1beta1', 'v2', 'v11beta2', 'foo1', 'v3beta1', 'v1', 'v12alpha1'];
    expect(versions.sort(compareApiVersions)).toEqual([
      'v10',
      'v2',
      'v1',
      'v11beta2',
      'v3beta1',
      'v1beta1',
      'v12alpha1',
      'v1alpha1',
      'foo1',
      'foo10',
    ]);
  });

  it('sorts v0 and v1alpha0 as API versions before other names, as Kubernetes does', () => {
    expect(['a', 'v0', 'v1alpha0', 'v1'].sort(compareApiVersions)).toEqual(['v1', 'v0', 'v1alpha0', 'a']);
  });
});

describe('isNewerServerVersion', () => {
  it('compares known versions only, without suffix', () => {
    expect(isNewerServerVersion('v1.37.1', 'v1.36.4')).toBe(true);
    expect(isNewerServerVersion('v1.36.5', 'v1.36.4')).toBe(true);
    for (const [a, b] of [
      ['v1.36.4', 'v1.37.1'],
      ['v1.36.4+k3s2', 'v1.36.4+k3s1'],
      ['v1.37.1', ''],
      ['', 'v1.37.1'],
      ['', ''],
    ] as const) {
      expect(isNewerServerVersion(a, b), `${a} ${b}`).toBe(false);
    }
  });
});

describe('compareServerVersions', () => {
  it('sorts the newest server first and an unknown version last', () => {
    expect(['', 'v1.36.4', 'v1.9.0', 'v1.36.10', 'v1.36.4-gke.1'].sort(compareServerVersions)).toEqual([
      'v1.36.10',
      'v1.36.4',
      'v1.36.4-gke.1',
      'v1.9.0',
      '',
    ]);
  });
});

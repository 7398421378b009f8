import { describe, expect, it } from 'vitest';
import { newResource } from './new-resource.js';
import { SHOWN } from './up-command.js';

describe('newResource, which only the newer of two versions serves,', () => {
  it.each([
    ['1.35', '1.36', SHOWN, 'podgroups.v1alpha2.scheduling.k8s.io'],
    ['1.36', '1.37', SHOWN, 'podcertificaterequests.v1.certificates.k8s.io'],
    ['1.34', '1.37', [], 'podcertificaterequests.v1.certificates.k8s.io'],
    ['1.37', '1.37', SHOWN, undefined],
    ['1.36', '1.35', [], undefined],
  ])('from %s to %s with runtime config %j is %s', async (older, newer, runtimeConfig, name) => {
    expect(await newResource({ older, newer, runtimeConfig })).toBe(name);
  });
});

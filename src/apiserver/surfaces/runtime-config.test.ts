import { describe, expect, it } from 'vitest';
import { isServed, parseRuntimeConfig } from './runtime-config.js';

const ON = { version: true, resource: true };
const OFF = { version: false, resource: true };
const jobs = { group: 'batch', version: 'v1', resource: 'jobs' };

describe('runtime config', () => {
  it('uses the most specific entry', () => {
    const config = parseRuntimeConfig(['api/all=false,batch/v1=true', 'batch/v1/cronjobs=false']);
    expect(isServed(config, jobs, ON)).toBe(true);
    expect(isServed(config, { ...jobs, resource: 'cronjobs' }, ON)).toBe(false);
    expect(isServed(config, { group: 'apps', version: 'v1', resource: 'deployments' }, ON)).toBe(false);
  });

  it('enables all versions of a stability, and keeps the defaults of the others', () => {
    const config = parseRuntimeConfig(['api/alpha']);
    const groups = { group: 'scheduling.k8s.io', version: 'v1alpha2', resource: 'podgroups' };
    expect(isServed(config, groups, OFF)).toBe(true);
    expect(isServed(config, { ...groups, version: 'v1beta1' }, OFF)).toBe(false);
    expect(isServed(config, jobs, ON)).toBe(true);
  });

  it('accepts v1 and api/v1 for the core group', () => {
    const pods = { group: '', version: 'v1', resource: 'pods' };
    expect(isServed(parseRuntimeConfig(['v1=false']), pods, ON)).toBe(false);
    expect(isServed(parseRuntimeConfig(['api/v1=false']), pods, ON)).toBe(false);
    expect(isServed(parseRuntimeConfig(['core/v1/pods=false']), pods, ON)).toBe(false);
  });

  it('throws an error that names an invalid entry', () => {
    expect(() => parseRuntimeConfig(['batch/v1=maybe'])).toThrow('"batch/v1=maybe" is not like');
    expect(() => parseRuntimeConfig(['a=b=c'])).toThrow();
  });
});

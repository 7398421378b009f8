import { describe, expect, it } from 'vitest';
import { parseAggregated } from '../../kube/discovery-documents.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { serves } from '../../kube/surface.js';
import { aggregated } from './fake-server.fixture.js';
import { buildSurface, lostSomething } from './surface-documents.js';

const surfaceOf = (resources: Record<string, string>) =>
  buildSurface({ core: [], groups: parseAggregated(aggregated(resources), '/apis'), kubernetesVersion: 'v1.36.4' });
const asks = (method: string, target: string) => parseRequestInfo(method, target)!;

describe('surface-documents', () => {
  it('buildSurface indexes resources down to subresource and verb', () => {
    const surface = surfaceOf({ 'batch/v1/jobs': 'get list create', 'batch/v1/jobs/status': 'get patch' });
    expect(serves(surface, asks('GET', '/apis/batch/v1/namespaces/a/jobs/x'))).toBe(true);
    expect(serves(surface, asks('DELETE', '/apis/batch/v1/namespaces/a/jobs/x'))).toBe(false);
    expect(serves(surface, asks('PATCH', '/apis/batch/v1/namespaces/a/jobs/x/status'))).toBe(true);
    expect(serves(surface, asks('GET', '/apis/batch/v1/namespaces/a/jobs/x/scale'))).toBe(false);
  });

  it('lostSomething detects a removed resource, subresource or verb', () => {
    const before = surfaceOf({ 'a/v1/x': 'get list', 'a/v1/x/status': 'get' });
    expect(lostSomething(before, surfaceOf({ 'a/v1/x': 'get list', 'a/v1/x/status': 'get', 'b/v1/y': 'get' }))).toBe(
      false,
    );
    expect(lostSomething(before, surfaceOf({ 'a/v1/x': 'get', 'a/v1/x/status': 'get' }))).toBe(true);
    expect(lostSomething(before, surfaceOf({ 'a/v1/x': 'get list' }))).toBe(true);
  });
});

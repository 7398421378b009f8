import { describe, expect, it } from 'vitest';
import { AGGREGATED, NOPEER } from '../control-plane.js';
import type { Answer } from '../https-client.js';
import type { Status, World } from './world.js';

interface Group {
  readonly metadata: { readonly name?: string };
  readonly versions: { readonly version: string; readonly resources: { readonly resource: string }[] }[];
}

const V2BETA1 = AGGREGATED.replace('v=v2', 'v=v2beta1');

export function documentsSuite(world: World): void {
  const get = (path: string, accept: string, more: Record<string, string> = {}): Promise<Answer> =>
    world.ask(path, { as: world.jane, headers: { Accept: accept, ...more } });
  const groups = (answer: Answer) =>
    answer.json<{ items: Group[] }>().items.map(({ metadata, versions }) => `${metadata.name}/${versions[0]!.version}`);

  describe('discovery', () => {
    it('is aggregated for clients that accept it, in both versions', async () => {
      const merged = await get('/apis', AGGREGATED);
      expect(merged.headers['content-type']).toBe(AGGREGATED);
      expect(groups(merged)).toContain('apps/v1');
      const beta = await get('/apis', V2BETA1);
      expect(beta.json()['apiVersion']).toBe('apidiscovery.k8s.io/v2beta1');
      expect(groups(beta)).toEqual(groups(merged));
      const core = await get('/api', AGGREGATED);
      const [{ versions }] = core.json<{ items: [Group] }>().items;
      expect(versions[0]!.resources.map(({ resource }) => resource)).toContain('pods');
    });

    it('is the local view with the nopeer profile, and equal to the merged one without peers', async () => {
      const localView = await get('/apis', NOPEER);
      expect(localView.status).toBe(200);
      expect(groups(localView)).toEqual(groups(await get('/apis', AGGREGATED)));
    });

    it('is 304 for a matching ETag', async () => {
      const first = await get('/apis', AGGREGATED);
      const etag = String(first.headers['etag']);
      expect(etag).toMatch(/^"[^"]+"$/);
      const again = await get('/apis', AGGREGATED, { 'If-None-Match': etag });
      expect([again.status, again.raw.length, again.headers['etag']]).toEqual([304, 0, etag]);
      expect(String(first.headers['vary'])).toMatch(/accept/i);
    });

    it('has the legacy forms', async () => {
      const kindAt = async (path: string): Promise<unknown> => (await get(path, 'application/json')).json()['kind'];
      expect(await Promise.all(['/api', '/apis', '/apis/apps', '/apis/apps/v1', '/api/v1'].map(kindAt))).toEqual([
        'APIVersions',
        'APIGroupList',
        'APIGroup',
        'APIResourceList',
        'APIResourceList',
      ]);
      const { resources } = (await get('/apis/apps/v1', 'application/json')).json<{ resources: { name: string }[] }>();
      expect(resources.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['deployments', 'deployments/scale', 'deployments/status']),
      );
    });

    it('replies 404 for a group that no server serves', async () => {
      expect((await get('/apis/nosuch.test', 'application/json')).status).toBe(404);
      expect((await get('/apis/nosuch.test/v1', 'application/json')).status).toBe(404);
      expect((await get('/apis/apps/v9', 'application/json')).status).toBe(404);
    });

    it('is refused for unsupported media types and other methods', async () => {
      const refused = await get('/apis', 'application/xml');
      expect([refused.status, refused.json<Status>().reason]).toEqual([406, 'NotAcceptable']);
      expect((await world.ask('/apis', { as: world.admin, method: 'POST', body: {} })).status).toBe(405);
    });
  });

  describe('OpenAPI', () => {
    it('has an index whose documents exist and may be cached by their hash', async () => {
      const index = await get('/openapi/v3', 'application/json');
      const { paths } = index.json<{ paths: Record<string, { serverRelativeURL: string }> }>();
      const { serverRelativeURL } = paths['apis/apps/v1']!;
      expect(serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=/);
      const document = await get(serverRelativeURL, 'application/json');
      expect(document.status).toBe(200);
      const { components } = document.json<{ components: { schemas: Record<string, unknown> } }>();
      expect(Object.keys(components.schemas)).toContain('io.k8s.api.apps.v1.Deployment');
    });

    it('has version 2 in one document', async () => {
      const document = await get('/openapi/v2', 'application/json');
      expect(document.json<{ swagger: string }>().swagger).toBe('2.0');
    });
  });
}

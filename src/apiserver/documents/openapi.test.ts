import { describe, expect, it } from 'vitest';
import { headerValue } from '../../http/headers.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { capturedDescriptions, OWN_DESCRIPTIONS } from '../descriptions/descriptions.js';
import type { ResourceType } from '../registry/resource-type.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { definitionToV2, schemaToV2 } from './openapi-v2-convert.js';
import { OpenApiV3, openApiV3Reply } from './openapi-v3.js';
import { bodyOf, customType, exchangeFor, servedOf } from './served.fixture.js';
import { OpenApiV2, openApiV2Reply } from './served-openapi-v2.js';

const surface = await loadSurface('1.36');
const WIDGET = customType({
  group: 'stable.example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  subresources: ['status', 'scale'],
});
const SCHEMA: JsonObject = {
  type: 'object',
  description: 'the words of whoever defined it',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1, default: 3 },
        port: { 'x-kubernetes-int-or-string': true },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        names: { type: 'object', additionalProperties: { type: 'string', nullable: true } },
        part: { type: 'object', 'x-kubernetes-embedded-resource': true, required: ['spec'] },
      },
    },
  },
};

function documentsOf(custom: readonly ResourceType[] = [WIDGET], bytesMax?: number): OpenApiV3 {
  const documents = new OpenApiV3({ surface, descriptions: OWN_DESCRIPTIONS, customSchema: () => SCHEMA }, bytesMax);
  documents.update(servedOf(surface, custom));
  return documents;
}

const STRING: JsonObject = { type: 'string' };
const EVERYWHERE = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status', 'items']);

function hasText(described: Json): boolean {
  return isObject(described) && typeof described['description'] === 'string' && described['description'] !== '';
}

/** Those of a path and of all its operations. */
function parametersOf(item: JsonObject): JsonObject[] {
  const holders = [item, ...Object.values(item).filter(isObject)];
  return holders.flatMap(({ parameters }) => (Array.isArray(parameters) ? parameters.filter(isObject) : []));
}

function parsed(documents: OpenApiV3, path: string): { paths: JsonObject; schemas: JsonObject } {
  const document = JSON.parse(documents.document(path)!.bytes.toString());
  return { paths: document.paths, schemas: document.components.schemas };
}

async function urls(documents: OpenApiV3): Promise<Record<string, string>> {
  const { paths } = JSON.parse((await documents.index()).bytes.toString()) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  return Object.fromEntries(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]));
}

/** Every reference in a document leads to something in it. */
function dangling(value: unknown, schemas: object, prefix: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => dangling(each, schemas, prefix));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    if (key !== '$ref' || typeof each !== 'string') return dangling(each, schemas, prefix);
    return each.startsWith(prefix) && Object.hasOwn(schemas, each.slice(prefix.length)) ? [] : [each];
  });
}

describe('OpenAPI v3', () => {
  const documents = documentsOf();

  it('has a document for every group and version, and one for custom resources', async () => {
    const paths = Object.keys(await urls(documents));
    expect(paths).toEqual([...paths].sort());
    expect(paths).toEqual(
      expect.arrayContaining([
        'api',
        'api/v1',
        'apis',
        'apis/apps',
        'apis/apps/v1',
        'apis/stable.example.com/v1',
        'version',
      ]),
    );
    expect(paths).not.toContain('apis/stable.example.com');
  });

  it.each(['api/v1', 'apis/apps/v1', 'apis/stable.example.com/v1', 'apis', 'version', 'apis/apps'])(
    '%s holds all that it refers to',
    (path) => {
      const { paths, schemas } = parsed(documents, path);
      expect(Object.keys(paths).length).toBeGreaterThan(0);
      expect(dangling({ paths, schemas }, schemas, '#/components/schemas/')).toEqual([]);
    },
  );

  it('keeps list keys, patch strategies, defaults and enums of built-in types', () => {
    const { schemas } = parsed(documents, 'apis/apps/v1');
    const properties = (name: string) => (schemas[name] as JsonObject)['properties'] as JsonObject;
    expect(properties('io.k8s.api.core.v1.Container')['ports']).toEqual({
      description: expect.any(String),
      type: 'array',
      items: { $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' },
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(properties('io.k8s.api.apps.v1.DeploymentSpec')['strategy']).toEqual({
      description: expect.any(String),
      allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
      default: {},
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
    expect(properties('io.k8s.api.core.v1.Container')['imagePullPolicy']).toMatchObject({
      enum: ['Always', 'IfNotPresent', 'Never'],
    });
    expect(schemas['io.k8s.api.apps.v1.Deployment']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
    });
    expect(schemas['io.k8s.apimachinery.pkg.api.resource.Quantity']).toEqual({
      oneOf: [{ type: 'string' }, { type: 'number' }],
    });
    expect(schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'DeleteOptions', version: 'v1' }],
    });
  });

  it('describes kinds, the members of every object, and every parameter', () => {
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/stable.example.com/v1']) {
      const { paths, schemas } = parsed(documents, path);
      for (const [name, schema] of Object.entries(schemas)) {
        if (!isObject(schema) || schema['x-kubernetes-group-version-kind'] === undefined) continue;
        const properties = Object.entries(schema['properties'] as JsonObject);
        const everywhere = properties.filter(([field]) => EVERYWHERE.has(field));
        const silent = everywhere.filter(([, field]) => !hasText(field));
        expect([name, silent.map(([field]) => field)]).toEqual([name, []]);
      }
      const parameters = Object.values(paths).flatMap((item) => parametersOf(item as JsonObject));
      expect(parameters.length).toBeGreaterThan(20);
      expect(parameters.filter((each) => !hasText(each))).toEqual([]);
    }
    const { schemas } = parsed(documents, 'apis/apps/v1');
    expect(schemas['io.k8s.api.apps.v1.Deployment']).toMatchObject({
      description: expect.stringContaining('pods'),
      properties: {
        spec: {
          allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec' }],
          description: expect.stringContaining('template'),
        },
      },
    });
  });

  it('describes members of a custom resource where its definition does not', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        kind: { type: 'string', description: 'Said by the definition.' },
        metadata: { type: 'object', description: '' },
        spec: { type: 'object', description: 'A spec of its own.' },
        status: { type: 'object' },
        more: { type: 'object' },
      },
    };
    const custom = new OpenApiV3({ surface, descriptions: OWN_DESCRIPTIONS, customSchema: () => schema });
    custom.update(servedOf(surface, [WIDGET]));
    const { schemas } = parsed(custom, 'apis/stable.example.com/v1');
    const { properties } = schemas['com.example.stable.v1.Widget'] as { properties: Record<string, JsonObject> };
    const own = OWN_DESCRIPTIONS.ofCustomObjects();
    expect(Object.entries(properties).map(([name, { description }]) => [name, description])).toEqual([
      ['kind', 'Said by the definition.'],
      ['metadata', own['metadata']],
      ['spec', 'A spec of its own.'],
      ['status', own['status']],
      ['more', undefined],
      ['apiVersion', own['apiVersion']],
    ]);
    expect(schema).toMatchObject({ properties: { status: { type: 'object' } } });
  });

  it('has the texts of captured descriptions instead, types without any included', async () => {
    const texts = { text: 'captured type', fields: { spec: 'captured spec' } };
    const tables = {
      objects: { kind: 'captured kind' },
      lists: {},
      parameters: { watch: 'captured watch', 'Deployment.{name}': 'captured name', 'patch.force': 'captured force' },
      types: { 'io.k8s.api.apps.v1.Deployment': texts },
    };
    const captured = new OpenApiV3({
      surface,
      descriptions: capturedDescriptions(tables),
      customSchema: () => SCHEMA,
    });
    captured.update(servedOf(surface, [WIDGET]));
    const { schemas, paths } = parsed(captured, 'apis/apps/v1');
    const deployment = schemas['io.k8s.api.apps.v1.Deployment'] as { properties: Record<string, JsonObject> };
    expect(deployment).toMatchObject({ description: 'captured type' });
    const described = Object.entries(deployment.properties).filter(([, field]) => hasText(field));
    expect(described.map(([name, { description }]) => [name, description])).toEqual([['spec', 'captured spec']]);
    const path = '/apis/apps/v1/namespaces/{namespace}/deployments';
    const textOf = (at: string, name: string) =>
      parametersOf(paths[at] as JsonObject).find((each) => each['name'] === name)!['description'];
    expect(textOf(path, 'watch')).toBe('captured watch');
    expect(textOf(`${path}/{name}`, 'name')).toBe('captured name');
    expect(textOf(`${path}/{name}`, 'force')).toBe('captured force');
    expect(textOf(path, 'limit')).toBe(OWN_DESCRIPTIONS.ofParameter('', 'limit'));
    const widgets = parsed(captured, 'apis/stable.example.com/v1').schemas['com.example.stable.v1.Widget'];
    expect(widgets).toMatchObject({ properties: { kind: { description: 'captured kind' }, apiVersion: STRING } });
    const { definitions } = JSON.parse((await new OpenApiV2(captured).json()).bytes.toString());
    expect(definitions['io.k8s.api.apps.v1.Deployment']).toMatchObject({
      description: 'captured type',
      properties: { spec: { $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentSpec', description: 'captured spec' } },
    });
  });

  it('lists dryRun and fieldValidation at each patch, where kubectl reads them', () => {
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/stable.example.com/v1']) {
      for (const [name, item] of Object.entries(parsed(documents, path).paths)) {
        const patch = (item as JsonObject)['patch'];
        if (!isObject(patch) || patch['x-kubernetes-action'] === 'connect') continue;
        const names = (patch['parameters'] as JsonObject[]).map((parameter) => parameter['name']);
        expect(names, name).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
        expect(patch, name).toMatchObject({ 'x-kubernetes-action': 'patch' });
      }
    }
  });

  it('names operations and kinds as kube-apiserver does', () => {
    const { paths } = parsed(documents, 'api/v1');
    const at = (path: string, method: string) => (paths[`/api/v1/${path}`] as JsonObject)[method];
    expect(at('namespaces/{namespace}/pods/{name}/eviction', 'post')).toMatchObject({
      tags: ['core_v1'],
      operationId: 'createCoreV1NamespacedPodEviction',
      'x-kubernetes-group-version-kind': { group: 'policy', version: 'v1', kind: 'Eviction' },
    });
    expect(at('namespaces/{namespace}/pods/{name}/proxy/{path}', 'options')).toMatchObject({
      operationId: 'connectCoreV1OptionsNamespacedPodProxyWithPath',
      'x-kubernetes-action': 'connect',
    });
    expect(at('watch/namespaces/{namespace}/pods', 'get')).toMatchObject({
      operationId: 'watchCoreV1NamespacedPodList',
      'x-kubernetes-action': 'watchlist',
    });
    expect(at('pods', 'get')).toMatchObject({ operationId: 'listCoreV1PodForAllNamespaces' });
    expect(at('namespaces/{namespace}/pods/{name}/exec', 'put')).toBeUndefined();
  });

  it('adds apiVersion, kind and metadata to the schema of a custom resource', () => {
    const { schemas } = parsed(documents, 'apis/stable.example.com/v1');
    const widget = JSON.parse(JSON.stringify(schemas['com.example.stable.v1.Widget']));
    expect(Object.keys(widget.properties).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    const { size, port, part } = widget.properties.spec.properties;
    expect(size).toEqual({ type: 'integer', minimum: 1, default: 3 });
    expect(port.anyOf).toEqual([{ type: 'integer' }, { type: 'string' }]);
    expect(part.required).toEqual(['spec', 'kind', 'apiVersion']);
    expect(part.properties).toHaveProperty('metadata');
    expect(schemas['com.example.stable.v1.WidgetList']).toMatchObject({
      properties: { items: { items: { $ref: '#/components/schemas/com.example.stable.v1.Widget' } } },
    });
  });

  it('has document hashes that are equal on two servers and change with the content only', async () => {
    const [here, there] = [await urls(documentsOf()), await urls(documentsOf())];
    expect(here).toEqual(there);
    const other = customType({ group: 'stable.example.com', version: 'v1', resource: 'gears', kind: 'Gear' });
    const documents = documentsOf();
    documents.update(servedOf(surface, [WIDGET, other]));
    const changed = await urls(documents);
    const differing = Object.keys(changed).filter((path) => changed[path] !== here[path]);
    expect(differing).toEqual(['apis/stable.example.com/v1']);
    documents.update(servedOf(surface));
    expect(await urls(documents)).not.toHaveProperty('apis/stable.example.com/v1');
  });

  it('caches documents up to the bound on bytes, and makes evicted ones again with the same bytes', () => {
    const kept = documentsOf();
    const made = kept.document('apis/apps/v1');
    expect(made !== undefined && kept.document('apis/apps/v1') === made).toBe(true);
    const small = documentsOf([WIDGET], 1);
    const first = small.document('apis/apps/v1')!;
    small.document('api/v1');
    const again = small.document('apis/apps/v1')!;
    expect(again === first).toBe(false);
    expect(again.hash).toBe(first.hash);
  });

  it('keeps documents of resources that did not change', () => {
    const documents = new OpenApiV3({ surface, descriptions: OWN_DESCRIPTIONS, customSchema: () => SCHEMA });
    const served = servedOf(surface, [WIDGET]);
    documents.update(served);
    const apps = documents.document('apis/apps/v1');
    const { types } = served;
    documents.update({ ...served, types: types.filter((type) => type !== WIDGET) });
    expect(documents.document('apis/apps/v1')).toBe(apps);
    expect(documents.document('apis/stable.example.com/v1')).toBeUndefined();
  });

  it('lists documents of other servers with the URLs of those servers, and local ones with local URLs', async () => {
    const documents = documentsOf();
    const foreign = new Map([
      ['apis/m.test/v1', '/openapi/v3/apis/m.test/v1?hash=AB'],
      ['apis/apps/v1', '/openapi/v3/apis/apps/v1?hash=CD'],
    ]);
    documents.update(servedOf(surface), foreign);
    const all = await urls(documents);
    expect(all['apis/m.test/v1']).toBe('/openapi/v3/apis/m.test/v1?hash=AB');
    expect(all['apis/apps/v1']).not.toContain('CD');
    expect(await openApiV3Reply(exchangeFor('/openapi/v3/apis/m.test/v1'), documents)).toBeUndefined();
  });

  it('marks a document with the current hash in its URL as immutable, and redirects from an old hash', async () => {
    const url = (await urls(documents))['apis/apps/v1']!;
    const reply = await openApiV3Reply(exchangeFor(url), documents);
    expect(reply!.status).toBe(200);
    expect(headerValue(reply!.headers, 'cache-control')).toContain('immutable');
    const old = await openApiV3Reply(exchangeFor('/openapi/v3/apis/apps/v1?hash=OLD'), documents);
    expect(old!.status).toBe(301);
    expect(headerValue(old!.headers, 'location')).toBe(url);
    const plain = await openApiV3Reply(exchangeFor('/openapi/v3/apis/apps/v1'), documents);
    expect(headerValue(plain!.headers, 'cache-control')).toBe('no-cache, private');
    expect(headerValue(plain!.headers, 'etag')).toBe(headerValue(reply!.headers, 'etag'));
  });

  it('replies to /openapi/v3 and its documents only, and in JSON only', async () => {
    for (const path of ['/openapi/v2', '/openapi/v33', '/openapi/v3/apis/nope/v1', '/openapi/v3/__proto__', '/apis']) {
      expect(await openApiV3Reply(exchangeFor(path), documents), path).toBeUndefined();
    }
    const protobuf = { accept: 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf' };
    await expect(openApiV3Reply(exchangeFor('/openapi/v3/api/v1', protobuf), documents)).rejects.toMatchObject({
      status: { code: 406 },
    });
  });
});

describe('OpenAPI v2', () => {
  const document = new OpenApiV2(documentsOf());

  it('is one document with all paths and types, without members that v2 lacks', async () => {
    const swagger = JSON.parse((await document.json()).bytes.toString());
    expect(swagger).toMatchObject({ swagger: '2.0', info: { title: 'Kubernetes', version: '1.36' } });
    expect(dangling(swagger, swagger.definitions, '#/definitions/')).toEqual([]);
    const text = JSON.stringify(swagger);
    for (const word of ['"oneOf":[', '"nullable":true', '"default":{}', '"requestBody"']) {
      expect(text.includes(word), word).toBe(false);
    }
    expect(swagger.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'].patch).toMatchObject({
      consumes: expect.arrayContaining(['application/strategic-merge-patch+json']),
      parameters: expect.arrayContaining([
        {
          name: 'body',
          in: 'body',
          required: true,
          schema: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch' },
        },
        { name: 'dryRun', in: 'query', description: expect.any(String), type: 'string', uniqueItems: true },
      ]),
      responses: { 200: { schema: { $ref: '#/definitions/io.k8s.api.apps.v1.Deployment' } } },
    });
  });

  it('lists the kinds of all groups in types of every group', async () => {
    const { definitions } = JSON.parse((await document.json()).bytes.toString());
    const kinds = definitions['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']['x-kubernetes-group-version-kind'];
    expect(kinds).toContainEqual({ group: 'stable.example.com', kind: 'DeleteOptions', version: 'v1' });
    expect(kinds).toContainEqual({ group: '', kind: 'DeleteOptions', version: 'v1' });
  });

  it('has no constraints for members of custom resources that may be anything, as in kube-apiserver', () => {
    const spec = (SCHEMA['properties'] as JsonObject)['spec'] as JsonObject;
    expect(schemaToV2(spec)['properties']).toEqual({
      size: { type: 'integer', minimum: 1 },
      port: { 'x-kubernetes-int-or-string': true },
      free: { 'x-kubernetes-preserve-unknown-fields': true },
      names: { type: 'object', additionalProperties: {} },
      part: { type: 'object', 'x-kubernetes-embedded-resource': true, required: ['spec'] },
    });
    const kinds = [{ group: 'g', kind: 'K', version: 'v1' }];
    const open = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: {},
      'x-kubernetes-group-version-kind': kinds,
    };
    expect(definitionToV2(open)).toEqual({ type: 'object', 'x-kubernetes-group-version-kind': kinds });
    expect(schemaToV2({ format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] })).toEqual({
      type: 'string',
      format: 'int-or-string',
    });
  });

  it('is JSON unless a client accepts protobuf only, with the same ETag in both', async () => {
    const ask = (accept: string) => openApiV2Reply(exchangeFor('/openapi/v2', { accept }), document);
    const json = await ask('*/*');
    expect(bodyOf(json)).toHaveProperty('swagger', '2.0');
    const protobuf = await ask('application/com.github.proto-openapi.spec.v2@v1.0+protobuf');
    expect(headerValue(protobuf!.headers, 'content-type')).toBe(
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    );
    expect(headerValue(protobuf!.headers, 'etag')).toBe(headerValue(json!.headers, 'etag'));
    await expect(ask('text/plain')).rejects.toMatchObject({ status: { code: 406 } });
    expect(await openApiV2Reply(exchangeFor('/openapi/v3'), document)).toBeUndefined();
  });

  it('changes with the served resources', async () => {
    const v3 = documentsOf([]);
    const follower = new OpenApiV2(v3);
    const before = await follower.json();
    expect(await follower.json()).toBe(before);
    v3.update(servedOf(surface, [WIDGET]));
    const after = await follower.json();
    expect(after.hash).not.toBe(before.hash);
    expect(after.bytes.toString()).toContain('com.example.stable.v1.Widget');
  });
});

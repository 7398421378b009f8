import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readSurface } from './built-in-surface.js';
import { SurfaceFormatError } from './captured-file.js';
import { convertOpenApi } from './convert-openapi.js';
import { convertSurface, writeSurface } from './convert-surface.js';
import { loadSurface, loadSurfaceFile, SURFACE_FILE_BYTES_MAX } from './load-surface.js';
import { shippedVersions } from './shipped-versions.js';

const VERSIONS = ['1.33', '1.34', '1.35', '1.36', '1.37'];
const SURFACE_BYTES_MAX = 400_000;

describe('the surfaces that ship with Straddle', () => {
  it('are those of 1.33 to 1.37, oldest first', () => {
    expect(shippedVersions()).toEqual(VERSIONS);
  });

  it.each(VERSIONS)(
    'include %s from a server of that version, below the bound on bytes, with deployments and nodes',
    async (version) => {
      const surface = await loadSurface(version);
      expect(surface.version).toBe(version);
      expect(surface.capturedFrom, 'a server of that version, not a newer one that emulates it').toMatch(
        new RegExp(`^v${version}\\.\\d+$`),
      );
      expect(statSync(new URL(`./data/${version}.json`, import.meta.url)).size).toBeLessThan(SURFACE_BYTES_MAX);
      const deployments = surface.resource('apps', 'v1', 'deployments')!;
      expect(deployments).toMatchObject({
        kind: 'Deployment',
        namespaced: true,
        shortNames: ['deploy'],
        categories: ['all'],
      });
      expect(deployments.subresources?.find(({ name }) => name === 'scale')).toMatchObject({
        kind: 'Scale',
        kindGroup: 'autoscaling',
        kindVersion: 'v1',
      });
      expect(surface.resource('', 'v1', 'nodes')).toMatchObject({ namespaced: false, singular: 'node' });
    },
  );

  it.each(VERSIONS)('have in %s a schema for every kind that can be created', async (version) => {
    const surface = await loadSurface(version);
    const missing = surface.groups.flatMap(({ name, versions }) =>
      versions.flatMap((each) =>
        each.resources
          .filter(({ verbs }) => verbs.includes('create'))
          .filter(
            (resource) =>
              !surface.kind(resource.kindGroup ?? name, resource.kindVersion ?? each.version, resource.kind),
          )
          .map((resource) => `${name}/${each.version}/${resource.kind}`),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('differ in versions that are on, off by default and absent', async () => {
    const [older, newer] = [await loadSurface('1.35'), await loadSurface('1.36')];
    const groupVersions = (surface: typeof older) =>
      surface.groups.flatMap(({ name, versions }) =>
        versions.map(({ version, offByDefault }) => `${name}/${version}${offByDefault ? ' off' : ''}`),
      );
    expect(groupVersions(newer)).not.toEqual(groupVersions(older));
    expect(groupVersions(newer).filter((each) => each.endsWith(' off')).length).toBeGreaterThan(0);
    expect(groupVersions(newer)).toContain('apps/v1');
    expect(groupVersions(newer)).toContain('scheduling.k8s.io/v1alpha2 off');
    expect(newer.resource('scheduling.k8s.io', 'v1alpha2', 'podgroups')?.kind).toBe('PodGroup');
    expect(older.resource('scheduling.k8s.io', 'v1alpha2', 'podgroups')).toBeUndefined();
    for (const each of groupVersions(newer).filter((name) => /\/v\d+ off$/.test(name)))
      expect.unreachable(`${each} is stable`);
  });

  it('contain list keys, merge keys, defaults, enums and formats', async () => {
    const surface = await loadSurface('1.36');
    const pod = surface.kind('', 'v1', 'Pod')!;
    expect(pod.typeName).toBe('io.k8s.api.core.v1.Pod');
    const containers = pod.schema.properties!['spec']!.properties!['containers']!;
    expect(containers).toMatchObject({
      type: 'array',
      listType: 'map',
      listKeys: ['name'],
      patchStrategy: 'merge',
      patchMergeKey: 'name',
    });
    const port = containers.items!.properties!['ports']!.items!;
    expect(port.properties!['protocol']).toMatchObject({
      type: 'string',
      default: 'TCP',
      enum: ['SCTP', 'TCP', 'UDP'],
    });
    expect(port.required).toEqual(['containerPort']);
    expect(containers.items!.properties!['resources']!.properties!['limits']!.values).toMatchObject({
      format: 'quantity',
    });
    expect(containers.items!.properties!['livenessProbe']!.properties!['httpGet']!.properties!['port']!.format).toBe(
      'int-or-string',
    );
    expect(pod.schema.properties!['metadata']!.properties!['creationTimestamp']).toMatchObject({ format: 'date-time' });
  });

  it('resolve types that contain themselves', async () => {
    const surface = await loadSurface('1.36');
    let schema = surface.type('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps')!;
    for (let level = 0; level < 20; level++) schema = schema.properties!['not']!;
    expect(schema.properties!['type']!.type).toBe('string');
  });

  it.each(VERSIONS)('have in %s no descriptions', (version) => {
    const text = readFileSync(new URL(`./data/${version}.json`, import.meta.url), 'utf8');
    expect(text).not.toMatch(/"(?:[^" \n]+ ){3}[^"\n]*"/);
  });

  it('are listed in the error for another version', async () => {
    await expect(loadSurface('../x')).rejects.toThrow(
      'Kubernetes ../x does not come with Straddle; 1.33, 1.34, 1.35, 1.36, 1.37 do.',
    );
    await expect(loadSurface('9.99')).rejects.toThrow('Kubernetes 9.99 does not come with Straddle');
  });
});

describe('a surface file of the operator', () => {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-surface-'));
  const file = join(dir, 'mine.json');
  const again = `capture it again with \`straddle surface capture --output=${file}\`.`;
  const whole = readFileSync(new URL('./data/1.36.json', import.meta.url), 'utf8');
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('has the same groups as one that ships with Straddle', async () => {
    writeFileSync(file, whole);
    expect((await loadSurfaceFile(file)).groups).toEqual((await loadSurface('1.36')).groups);
  });

  it('may be compressed, within the same bound on bytes', async () => {
    writeFileSync(`${file}.gz`, gzipSync(whole));
    expect((await loadSurfaceFile(`${file}.gz`)).groups).toEqual((await loadSurface('1.36')).groups);
    writeFileSync(`${file}.gz`, gzipSync(Buffer.alloc(SURFACE_FILE_BYTES_MAX + 1, ' ')));
    await expect(loadSurfaceFile(`${file}.gz`)).rejects.toThrow(/has more than \d+ bytes/);
    writeFileSync(`${file}.gz`, whole);
    await expect(loadSurfaceFile(`${file}.gz`)).rejects.toThrow(`${file}.gz cannot be used (Z_DATA_ERROR).`);
    await expect(loadSurfaceFile(join(dir, 'none.json.gz'))).rejects.toThrow(
      'cannot be used (no such file or directory, ENOENT).',
    );
  });

  it.each([
    ['that is cut off', whole.slice(0, 100_000), `${file} is cut off after 100000 bytes: ${again}`],
    ['that is empty', '', `${file} is empty: ${again}`],
    [
      'of a newer format',
      whole.replace('"format":1', '"format":2'),
      `${file} has the surface format 2 of a newer Straddle, and this one reads format 1: run that newer Straddle, or ${again}`,
    ],
    ['with damage inside', whole.replace('"verbs":["create"]', '"verbs":"create"'), `${file} is damaged, groups[0].`],
  ])('%s is refused in one sentence with the file and the next step', async (_, text, sentence) => {
    writeFileSync(file, text);
    const refusal = await loadSurfaceFile(file).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(SurfaceFormatError);
    expect((refusal as Error).message).toContain(sentence);
  });

  it('that is missing or too large is refused', async () => {
    await expect(loadSurfaceFile(join(dir, 'none.json'))).rejects.toThrow(
      `${join(dir, 'none.json')} cannot be used (no such file or directory, ENOENT).`,
    );
    await expect(loadSurfaceFile('/dev/zero')).rejects.toThrow(
      `/dev/zero has more than ${SURFACE_FILE_BYTES_MAX} bytes: give a file that`,
    );
  });
});

describe('convertSurface', () => {
  const resource = (name: string) => ({
    resource: name,
    responseKind: { group: '', version: '', kind: 'Thing' },
    scope: 'Namespaced' as const,
    singularResource: 'thing',
    verbs: ['get'],
  });
  const discovery = (versions: readonly string[], resources: readonly string[]) => ({
    core: [],
    groups: [
      {
        metadata: { name: 'g' },
        versions: versions.map((version) => ({ version, resources: resources.map(resource) })),
      },
    ],
  });

  it('marks resources that are off by default, and its file can be read again', () => {
    const everything = {
      gitVersion: 'v1.99.0',
      version: '1.99',
      discovery: discovery(['v1', 'v2alpha1'], ['things', 'extras']),
      openApi: [],
    };
    const file = convertSurface(everything, { discovery: discovery(['v1'], ['things']) });
    const [v1, alpha] = file.groups[0]!.versions;
    expect(v1).not.toHaveProperty('offByDefault');
    expect(v1!.resources.map(({ name, offByDefault }) => [name, offByDefault])).toEqual([
      ['things', undefined],
      ['extras', true],
    ]);
    expect(alpha).toMatchObject({ offByDefault: true });
    expect(JSON.parse(writeSurface(file))).toEqual(file);
    expect(readSurface(writeSurface(file)).resource('g', 'v1', 'things')?.kind).toBe('Thing');
  });

  it('writes types in their short forms, without descriptions', () => {
    const schemas = {
      'x.Quantityless': {
        type: 'object',
        description: 'prose',
        properties: { a: { type: 'integer', format: 'int32', description: 'prose' } },
      },
      'x.List': { type: 'array', items: { default: {}, allOf: [{ $ref: '#/components/schemas/x.Alias' }] } },
      'x.Map': { type: 'object', additionalProperties: { type: 'string', default: '' } },
      'x.Alias': { type: 'string', format: 'date-time' },
      'x.Any': {},
      'x.Free': { type: 'object' },
      'x.Kind': {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'g', version: 'v1', kind: 'Kind' }],
        properties: { l: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } },
      },
    };
    expect(convertOpenApi([{ components: { schemas } }])).toEqual({
      'x.Alias': 'string/date-time',
      'x.Any': 'any',
      'x.Free': 'object',
      'x.Kind': { fields: { l: { is: '[]string', listType: 'set' } }, kinds: ['g/v1/Kind'] },
      'x.List': '[]#x.Alias',
      'x.Map': '{}string',
      'x.Quantityless': { fields: { a: 'integer/int32' } },
    });
  });
});

import { describe, expect, it } from 'vitest';
import { readSurface } from './built-in-surface.js';
import { SurfaceFormatError } from './captured-file.js';
import { convertSurface, type ServerDocuments, writeSurface } from './convert-surface.js';
import { parseSurface } from './parse-surface.js';
import type { SurfaceFile } from './surface-file.js';

const SERVER: ServerDocuments = {
  gitVersion: 'v1.99.0',
  version: '1.99',
  discovery: {
    core: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'things',
                responseKind: { group: '', version: '', kind: 'Thing' },
                scope: 'Namespaced',
                singularResource: 'thing',
                verbs: ['get', 'list'],
                subresources: [
                  { subresource: 'status', responseKind: { group: '', version: '', kind: 'Thing' }, verbs: ['get'] },
                ],
              },
            ],
          },
        ],
      },
    ],
    groups: [],
  },
  openApi: [
    {
      components: {
        schemas: {
          'x.Thing': {
            type: 'object',
            properties: { spec: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } } },
          },
        },
      },
    },
  ],
};
const FILE: SurfaceFile = convertSurface(SERVER);
const TEXT = writeSurface(FILE);
const ORIGIN = { file: '/s/mine.json', remedy: 'capture it again' };

function refusal(text: string): string {
  try {
    parseSurface(text, ORIGIN);
  } catch (error) {
    expect(error).toBeInstanceOf(SurfaceFormatError);
    return (error as Error).message;
  }
  return expect.unreachable('was not refused');
}

describe('a surface file', () => {
  it('is parsed if it is complete', () => {
    expect(parseSurface(TEXT, ORIGIN)).toEqual(FILE);
    expect(readSurface(TEXT).resource('', 'v1', 'things')?.kind).toBe('Thing');
  });

  it('that is truncated anywhere is refused in one sentence with its name, its size and the next step', () => {
    for (let bytes = 1; bytes < TEXT.trimEnd().length; bytes++) {
      expect(refusal(TEXT.slice(0, bytes))).toBe(`/s/mine.json is cut off after ${bytes} bytes: capture it again.`);
    }
  });

  it('that is empty is refused as empty', () => {
    expect(refusal('')).toBe('/s/mine.json is empty: capture it again.');
    expect(refusal(' \n')).toBe('/s/mine.json is empty: capture it again.');
  });

  it('of a newer format is refused with both formats and both ways out', () => {
    expect(refusal(JSON.stringify({ ...FILE, format: 2, types: 'as nobody can know yet' }))).toBe(
      '/s/mine.json has the surface format 2 of a newer Straddle, and this one reads format 1: run that newer Straddle, or capture it again.',
    );
  });

  it.each(['null', '[]', '7', '{}', '{"format":"1"}', '{"format":0}', '{"format":1.5}', '{"kind":"Pod"}'])(
    'with the content %s is refused as no surface file',
    (text) => {
      expect(refusal(text)).toBe(
        '/s/mine.json is not a surface file of format 1: give one that `straddle surface capture` of this version wrote.',
      );
    },
  );

  it('that is no JSON is refused with the reason of the parser', () => {
    expect(refusal('apiVersion: v1\n')).toMatch(/^\/s\/mine\.json is not JSON \(.+\): capture it again\.$/s);
    expect(refusal('{"format":1}}')).toMatch(/^\/s\/mine\.json is not JSON \(.+\): capture it again\.$/s);
  });

  it.each<[string, (file: Record<string, unknown>) => void]>([
    ['groups is not a list', (file) => delete file['groups']],
    ['types is not an object', (file) => Object.assign(file, { types: [] })],
    ['version is not a minor version', (file) => Object.assign(file, { version: '1.99.3' })],
    ['capturedFrom is not a text', (file) => Object.assign(file, { capturedFrom: null })],
    ['groups[0] is not an object', (file) => Object.assign(file, { groups: [null] })],
    ['groups[0].versions is not a list', (file) => Object.assign(file, { groups: [{ name: '' }] })],
    ['types.x.Thing is not a type', (file) => Object.assign(file, { types: { 'x.Thing': null } })],
    [
      'types.x.Thing.fields.a.items is not a type',
      (file) => Object.assign(file, { types: { 'x.Thing': { fields: { a: { items: 3 } } } } }),
    ],
  ])('is refused as damaged: %s', (fault, damage) => {
    const file = structuredClone(FILE) as unknown as Record<string, unknown>;
    damage(file);
    expect(refusal(JSON.stringify(file))).toBe(`/s/mine.json is damaged, ${fault}: capture it again.`);
  });

  it('without a verb list or with a member of the wrong type in a resource is refused with its place', () => {
    const resource = FILE.groups[0]!.versions[0]!.resources[0]!;
    const withResource = (changed: object): string =>
      JSON.stringify({ ...FILE, groups: [{ name: '', versions: [{ version: 'v1', resources: [changed] }] }] });
    const place = 'groups[0].versions[0].resources[0]';
    expect(refusal(withResource({ ...resource, verbs: 'get' }))).toContain(`${place}.verbs is not a list`);
    expect(refusal(withResource({ ...resource, namespaced: 1 }))).toContain(`${place}.namespaced is not true or false`);
    expect(refusal(withResource({ ...resource, subresources: [{ name: 'status' }] }))).toContain(
      `${place}.subresources[0].kind is not a text`,
    );
  });

  it('with types that are nested too deeply is refused', () => {
    let type = '"string"';
    for (let level = 0; level < 200; level++) type = `{"items":${type}}`;
    const text = TEXT.replace('"types":{', `"types":{"x.Deep":${type},`);
    expect(refusal(text)).toMatch(/is nested more than 100 levels deep: capture it again\.$/);
  });
});

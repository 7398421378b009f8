import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SurfaceFormatError } from '../surfaces/captured-file.js';
import { convertDescriptions, writeDescriptions } from './convert-descriptions.js';
import { capturedDescriptions, OWN_DESCRIPTIONS } from './descriptions.js';
import { checkDescribedVersion, DESCRIPTIONS_FILE_BYTES_MAX, loadDescriptionsFile } from './parse-descriptions.js';

const kindOf = (kind: string) => ({ 'x-kubernetes-group-version-kind': { group: 'g', version: 'v1', kind } });
const object = (text: string, metadata: string) => ({
  type: 'object',
  description: text,
  properties: {
    apiVersion: { type: 'string', description: 'the version' },
    kind: { type: 'string', description: 'the kind' },
    metadata: { description: metadata, allOf: [{ $ref: '#/components/schemas/x.Meta' }] },
    silent: { type: 'string', description: '' },
  },
});
const pretty = (description: string) => ({ name: 'pretty', in: 'query', description });
const FILE = convertDescriptions({
  gitVersion: 'v1.99.3',
  version: '1.99',
  discovery: { core: [], groups: [] },
  openApi: [
    {
      components: {
        schemas: {
          'x.A': object('an A', 'the metadata'),
          'x.B': object('a B', 'the metadata'),
          'x.C': object('a C', 'other metadata'),
          'x.AList': object('many', 'of the list'),
          'x.Bare': { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
      paths: {
        '/a/{name}': {
          get: {
            ...kindOf('A'),
            parameters: [pretty('indented'), { name: 'name', in: 'query', description: 'of the query' }],
          },
          delete: { ...kindOf('A'), parameters: [pretty('ignored: the kind has one already')] },
          parameters: [{ name: 'name', in: 'path', description: 'name of the A' }],
        },
        '/b/{name}': {
          get: { ...kindOf('B'), parameters: [pretty('indented')] },
          parameters: [{ name: 'name', in: 'path', description: 'name of the B' }],
        },
        '/d': { patch: { ...kindOf('A'), 'x-kubernetes-action': 'patch', parameters: [pretty('of a patch')] } },
        '/c': { get: { ...kindOf('C'), parameters: [pretty('otherwise'), { name: 'mute', in: 'query' }] } },
      },
    },
    { components: { schemas: { 'x.A': object('the first document counts', '') } } },
    {},
  ],
});
const TEXT = writeDescriptions(FILE);

describe('captured descriptions', () => {
  it('are those of types, fields and parameters, and the most frequent ones of all kinds', () => {
    expect(FILE).toMatchObject({ descriptionsFormat: 1, capturedFrom: 'v1.99.3', version: '1.99' });
    expect(Object.keys(FILE.types)).toEqual(['x.A', 'x.AList', 'x.B', 'x.C']);
    expect(FILE.types['x.A']).toEqual({
      text: 'an A',
      fields: { apiVersion: 'the version', kind: 'the kind', metadata: 'the metadata' },
    });
    expect(FILE.objects).toEqual({ apiVersion: 'the version', kind: 'the kind', metadata: 'the metadata' });
    expect(FILE.lists['metadata']).toBe('of the list');
    expect(FILE.parameters).toEqual({
      'B.{name}': 'name of the B',
      'C.pretty': 'otherwise',
      name: 'of the query',
      'patch.pretty': 'of a patch',
      pretty: 'indented',
      '{name}': 'name of the A',
    });
  });

  it('take the place of own ones type by type, and parameter by parameter', () => {
    const descriptions = capturedDescriptions(FILE);
    expect(descriptions.ofType('x.A', true)).toEqual(FILE.types['x.A']);
    const node = 'io.k8s.api.core.v1.Node';
    expect(descriptions.ofType(node, true)).toEqual(OWN_DESCRIPTIONS.ofType(node, true));
    expect(descriptions.ofCustomObjects()).not.toHaveProperty('spec');
    expect(descriptions.ofParameter('B', '{name}')).toBe('name of the B');
    expect(descriptions.ofParameter('D', '{name}')).toBe('name of the A');
    expect(descriptions.ofParameter('D', 'watch')).toBe(OWN_DESCRIPTIONS.ofParameter('D', 'watch'));
  });
});

describe('a descriptions file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-descriptions-'));
  const file = join(dir, 'mine.json');
  const again = `capture it again with \`straddle surface capture --descriptions --output=${file}\``;
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const refusal = async (text: string): Promise<string> => {
    writeFileSync(file, text);
    const error = await loadDescriptionsFile(file).catch((error: Error) => error);
    expect(error).toBeInstanceOf(SurfaceFormatError);
    return (error as Error).message;
  };

  it('can be read again, and has one type a line', async () => {
    writeFileSync(file, TEXT);
    expect(await loadDescriptionsFile(file)).toEqual(FILE);
    expect(TEXT.split('\n').filter((line) => line.startsWith('"x.'))).toHaveLength(4);
  });

  it.each<[string, (text: string) => string, string]>([
    ['that is cut off', (text) => text.slice(0, 200), `is cut off after 200 bytes: ${again}.`],
    ['that is empty', () => '\n', `is empty: ${again}.`],
    ['that is no JSON', () => 'descriptions: 1', 'is not JSON ('],
    [
      'of a newer format',
      (text) => text.replace('"descriptionsFormat":1', '"descriptionsFormat":3'),
      `has the descriptions format 3 of a newer Straddle, and this one reads format 1: run that newer Straddle, or ${again}.`,
    ],
    [
      'that is a surface',
      (text) => text.replace('"descriptionsFormat":1', '"format":1'),
      'is not a descriptions file of format 1: give one that `straddle surface capture --descriptions` of this version wrote.',
    ],
    [
      'with damage in a type',
      (text) => text.replace('"text":"an A"', '"text":{}'),
      `is damaged, types.x.A.text is not a text: ${again}.`,
    ],
    [
      'with damage in a field',
      (text) => text.replace('"fields":{"apiVersion":"the version"', '"fields":{"apiVersion":[]'),
      `is damaged, types.x.A.fields.apiVersion is not a text: ${again}.`,
    ],
    ['without parameters', (text) => text.replace('"parameters"', '"par"'), 'is damaged, parameters is not an object'],
    [
      'with an endless text',
      (text) => text.replace('an A', 'a'.repeat(20_001)),
      'is damaged, types.x.A.text has more than 20000 characters',
    ],
  ])('%s is refused in one sentence with the file and the next step', async (_, change, sentence) => {
    expect(change(TEXT)).not.toBe(TEXT);
    expect(await refusal(change(TEXT))).toMatch(`${file} ${sentence}`);
  });

  it('that is missing or too large is refused', async () => {
    await expect(loadDescriptionsFile(join(dir, 'none.json'))).rejects.toThrow(
      `${join(dir, 'none.json')} cannot be used (no such file or directory, ENOENT).`,
    );
    await expect(loadDescriptionsFile('/dev/zero')).rejects.toThrow(
      `/dev/zero has more than ${DESCRIPTIONS_FILE_BYTES_MAX} bytes: give a file that \`straddle surface capture --descriptions\` wrote.`,
    );
  });

  it('of another version than the served one is refused', () => {
    expect(() => checkDescribedVersion(FILE, '1.99', file)).not.toThrow();
    expect(() => checkDescribedVersion(FILE, '1.36', file)).toThrow(
      `${file} has the descriptions of v1.99.3, and this server serves 1.36: ${again} from a server of 1.36, or serve 1.99.`,
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { type DefaultRolesFile, defaultEntries, readDefaultRoles, recordedMinors } from './default-roles-file.js';

const role = (name: string, verb: string): JsonObject => ({ name, rules: [{ verbs: [verb] }] });
const bound = (namespace: string, name: string): JsonObject => ({ namespace, name, subjects: [] });

const file: DefaultRolesFile = {
  from: 'v1.36.4',
  clusterroles: [role('kept', 'get'), role('changed', 'get'), role('gone', 'get')],
  clusterrolebindings: [],
  roles: [],
  rolebindings: [bound('a', 'same'), bound('b', 'same')],
  versions: {
    '1.34': { from: 'v1.34.4', present: {}, absent: {} },
    '1.38': {
      from: 'v1.38.0',
      present: { clusterroles: [role('changed', 'list'), role('new', 'get')] },
      absent: { clusterroles: ['/gone'], rolebindings: ['a/same'] },
    },
  },
};

describe('defaultEntries', () => {
  it('are those of the base with what another version has otherwise', () => {
    expect(defaultEntries(file, 36)).toBe(file);
    const { clusterroles, rolebindings } = defaultEntries(file, 38);
    expect(clusterroles).toEqual([role('kept', 'get'), role('changed', 'list'), role('new', 'get')]);
    expect(rolebindings).toEqual([bound('b', 'same')]);
  });

  it('are those of the version before, where none are recorded, and of the oldest for older ones', () => {
    expect(defaultEntries(file, 37)).toBe(file);
    expect(defaultEntries(file, 35).clusterroles).toEqual(file.clusterroles);
    expect(defaultEntries(file, 39)).toEqual(defaultEntries(file, 38));
    expect(defaultEntries(file, 30)).toEqual(defaultEntries(file, 34));
  });
});

it('the shipped file has the base and other versions, each once', () => {
  const minors = recordedMinors(readDefaultRoles());
  expect(minors).toEqual([...new Set(minors)]);
  expect(minors).toEqual(expect.arrayContaining([33, 35, 36, 37]));
});

import { describe, expect, it } from 'vitest';
import type { GroupDiscovery, ResourceDiscovery } from '../../kube/discovery.js';
import { checkUses, choose, notesOf, usesOf } from './choice.js';
import { differencesBetween } from './differences.js';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

function resource(name: string, kind: string, more: Partial<ResourceDiscovery> = {}): ResourceDiscovery {
  return { resource: name, responseKind: { kind }, scope: 'Namespaced', verbs: VERBS, ...more };
}

const groupOf = (...resources: ResourceDiscovery[]): GroupDiscovery[] => [
  { metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources }] },
];
const COMMON = resource('commons', 'Common');
const WIDGETS = resource('widgets', 'Widget', { subresources: [{ subresource: 'status', verbs: ['get', 'patch'] }] });
const PLACES = resource('places', 'Place', { scope: 'Cluster' });
const VERSIONS = { from: '1.36', to: '1.37', manifests: [] };

function usesBetween(older: readonly ResourceDiscovery[], newer: readonly ResourceDiscovery[], wanted?: string) {
  const differences = differencesBetween(groupOf(...older), groupOf(...newer));
  const choice = choose({ ...VERSIONS, differences, wanted });
  const uses = usesOf(choice);
  return { uses, notes: notesOf(choice, uses) };
}

describe('what a rehearsal exercises', () => {
  it('is every resource and subresource that only the newer version serves', () => {
    const { uses, notes } = usesBetween([COMMON], [COMMON, WIDGETS, PLACES]);
    expect(uses).toEqual([
      { name: 'places.v1.example.com', servedBy: '1.37', exercises: ['requests', 'watches', 'owners'] },
      { name: 'widgets.v1.example.com', servedBy: '1.37', exercises: ['requests', 'watches', 'owners', 'namespaces'] },
      { name: 'widgets.v1.example.com/status', servedBy: '1.37', exercises: ['requests'] },
    ]);
    expect(notes).toEqual([]);
  });

  it('is a subresource of what both serve', () => {
    const more = { ...COMMON, subresources: [{ subresource: 'status', verbs: ['get', 'patch', 'update'] }] };
    const { uses, notes } = usesBetween([COMMON], [more]);
    expect(uses).toEqual([{ name: 'commons.v1.example.com/status', servedBy: '1.37', exercises: ['requests'] }]);
    expect(notes[0]).toMatch(/^No resource whose objects can own others differs between 1\.36 and 1\.37/);
  });

  it('has a sentence about namespaces if no namespaced resource differs', () => {
    expect(usesBetween([], [PLACES]).notes).toEqual([
      'No namespaced resource differs between 1.36 and 1.37: no namespace is deleted, because none could end too early.',
    ]);
  });

  it.each<[string, readonly ResourceDiscovery[], readonly ResourceDiscovery[], string]>([
    ['a resource of the older version only', [WIDGETS], [], 'only 1.36 serves it'],
    ['more verbs', [{ ...COMMON, verbs: ['get'] }], [COMMON], '1.36 serves it too'],
    ['a resource without watch', [], [{ ...COMMON, verbs: ['create', 'get'] }], 'do not have delete, list, patch'],
    [
      'a subresource that can only be created',
      [COMMON],
      [{ ...COMMON, subresources: [{ subresource: 'token', verbs: ['create'] }] }],
      'it can neither be read nor patched',
    ],
  ])('is not %s, and the reason is given', (_, older, newer, reason) => {
    const [use] = usesBetween(older, newer).uses;
    expect(use!.exercises).toEqual([]);
    expect(use!.reason).toContain(reason);
  });

  it('is only what the user wants, with its subresources', () => {
    const { uses } = usesBetween([], [WIDGETS, PLACES], 'widgets.v1.example.com');
    expect(uses.map(({ name, reason }) => [name, reason])).toEqual([
      ['places.v1.example.com', '--resource names another one'],
      ['widgets.v1.example.com', undefined],
      ['widgets.v1.example.com/status', undefined],
    ]);
  });

  it('is bounded', () => {
    const many = Array.from({ length: 40 }, (_, index) => resource(`r${index}s`, `R${index}`));
    const { uses } = usesBetween([], many);
    expect(uses.filter(({ exercises }) => exercises.length > 0)).toHaveLength(16);
    expect(uses.at(-1)!.reason).toContain('--resource chooses one');
  });

  it('cannot be a resource that does not differ', () => {
    expect(() => usesBetween([COMMON], [COMMON, WIDGETS], 'commons.v1.example.com')).toThrow(
      '--resource: commons.v1.example.com is nothing that 1.37 serves and 1.36 does not; these are: widgets.v1.example.com, widgets.v1.example.com/status.',
    );
  });

  it('cannot be nothing: the message has the reasons and the next step', () => {
    const advice = 'give other versions';
    expect(() => checkUses(VERSIONS, [], advice)).toThrow(
      '1.36 and 1.37 serve the same, so no request can reach a server that lacks something: give other versions.',
    );
    expect(() => checkUses(VERSIONS, usesBetween([WIDGETS], []).uses, advice)).toThrow(
      /^Nothing that differs between 1\.36 and 1\.37 can be exercised: widgets\.v1\.example\.com \(only 1\.36 .*\), .*; give other versions\.$/,
    );
  });

  it('uses the user’s object of a kind as its template, without metadata and status', () => {
    const manifest = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'mine' },
      spec: { size: 3 },
      status: {},
    };
    const differences = differencesBetween([], groupOf(WIDGETS));
    const { candidates } = choose({ ...VERSIONS, differences, manifests: [manifest] });
    expect(candidates[0]!.templates).toEqual([{ apiVersion: 'example.com/v1', kind: 'Widget', spec: { size: 3 } }]);
  });
});

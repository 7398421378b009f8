import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadSurface } from '../surfaces/load-surface.js';
import { shippedVersions } from '../surfaces/shipped-versions.js';
import { OWN_DESCRIPTIONS, ownTables } from './descriptions.js';
import { loadDescriptionsFile } from './parse-descriptions.js';
import { sharedSentences, textsIn } from './shared-sentences.fixture.js';

/** A file of `straddle surface capture --descriptions`, which is not part of this repository. */
const CAPTURED = process.env['STRADDLE_DESCRIPTIONS'];
const CHARS_MAX = 110;
const MOST_USED = [
  ...['/v1/Pod', '/v1/Service', 'apps/v1/Deployment', 'apps/v1/ReplicaSet', 'apps/v1/StatefulSet', 'apps/v1/DaemonSet'],
  ...['batch/v1/Job', 'batch/v1/CronJob', '/v1/ConfigMap', '/v1/Secret', '/v1/Namespace', '/v1/Node', '/v1/Event'],
  ...['/v1/PersistentVolume', '/v1/PersistentVolumeClaim', 'networking.k8s.io/v1/Ingress', '/v1/ServiceAccount'],
  ...['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'].map((kind) => `rbac.authorization.k8s.io/v1/${kind}`),
  ...['autoscaling/v2/HorizontalPodAutoscaler', 'networking.k8s.io/v1/NetworkPolicy', 'storage.k8s.io/v1/StorageClass'],
  ...['apiextensions.k8s.io/v1/CustomResourceDefinition', 'policy/v1/PodDisruptionBudget'],
];
const surfaces = await Promise.all(shippedVersions().map(loadSurface));
const newest = surfaces.at(-1)!;
const all = textsIn(ownTables());

describe("Straddle's own descriptions", () => {
  it('are short lines that end with a full stop', () => {
    // kubectl writes types and enums with `<` and `enum:`.
    const isFine = (text: string): boolean =>
      /^[\x20-\x7e]+\.$/.test(text) && text.length <= CHARS_MAX && !/<|enum:/.test(text);
    expect(all.length).toBeGreaterThan(400);
    expect(all.filter(([, text]) => !isFine(text))).toEqual([]);
  });

  it('are about types and fields that a shipped version has', () => {
    const isField = (typeName: string, field: string): boolean =>
      surfaces.some((surface) => Object.hasOwn(surface.type(typeName)?.properties ?? {}, field));
    const unknown = Object.entries(ownTables().types).flatMap(([typeName, { fields = {} }]) =>
      newest.type(typeName) === undefined
        ? [typeName]
        : Object.keys(fields)
            .filter((field) => !isField(typeName, field))
            .map((field) => `${typeName}.${field}`),
    );
    expect(unknown).toEqual([]);
  });

  it.each(MOST_USED)('cover %s and all fields of the object and of its spec', (named) => {
    const [group = '', version = '', kind = ''] = named.split('/');
    const { typeName, schema } = newest.kind(group, version, kind)!;
    const texts = OWN_DESCRIPTIONS.ofType(typeName, true);
    expect(texts.text).toBeDefined();
    const missing = Object.keys(schema.properties!).filter((field) => !Object.hasOwn(texts.fields!, field));
    expect(missing).toEqual([]);
    const spec = schema.properties!['spec'];
    // A PersistentVolume has twenty sources, most of which drivers have replaced.
    if (spec === undefined || kind === 'PersistentVolume') return;
    const ofSpec = OWN_DESCRIPTIONS.ofType(spec.typeName!, false);
    expect(ofSpec.text).toBeDefined();
    expect(Object.keys(spec.properties!).filter((field) => !Object.hasOwn(ofSpec.fields!, field))).toEqual([]);
  });

  it('give a kind that has no texts of its own those that all objects have', () => {
    expect(OWN_DESCRIPTIONS.ofType('io.k8s.api.storage.v1.VolumeAttachment', true)).toEqual({
      fields: ownTables().objects,
    });
    expect(OWN_DESCRIPTIONS.ofType('io.k8s.api.core.v1.PodList', true).fields).toEqual(ownTables().lists);
    expect(OWN_DESCRIPTIONS.ofType('io.k8s.api.core.v1.Toleration', false)).toEqual({});
    expect(OWN_DESCRIPTIONS.ofType('constructor', false)).toEqual({});
    expect(OWN_DESCRIPTIONS.ofParameter('constructor', 'valueOf')).toBeUndefined();
  });

  it('are not in the surfaces', () => {
    for (const version of shippedVersions()) {
      const text = readFileSync(new URL(`../surfaces/data/${version}.json`, import.meta.url), 'utf8');
      expect(all.filter(([, each]) => text.includes(each))).toEqual([]);
    }
  });

  it.skipIf(CAPTURED === undefined)('have no sentence of Kubernetes (STRADDLE_DESCRIPTIONS=<file>)', async () => {
    expect(sharedSentences(ownTables(), await loadDescriptionsFile(CAPTURED!))).toEqual([]);
  });

  it('are found to share a sentence, whatever its punctuation and case', () => {
    const tables = { objects: {}, lists: {}, parameters: {} };
    const own = { ...tables, types: { a: { text: 'Short one. A sentence that both of them have.' } } };
    const captured = {
      descriptionsFormat: 1 as const,
      capturedFrom: 'v1',
      version: '1.1',
      ...tables,
      types: { b: { fields: { c: 'Short one.\nA sentence, that both of them have: and more' } } },
    };
    expect(sharedSentences(own, captured)).toEqual(['a: a sentence that both of them have']);
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { FakeObjects } from '../contracts/object-reader.fixture.js';
import { conditionOf, isConditionTrue } from './definition.js';
import { definitionStrategy } from './definition-strategy.js';
import { setDefinitionDefaults } from './set-definition-defaults.js';
import { CLEANUP_FINALIZER, markDefinitionDeleted, settleDefinitions } from './settle-definitions.js';

const NOW = '2026-01-02T03:04:05Z';
const context = { now: NOW, objects: new FakeObjects() };

function definition(plural: string, kind: string, more: JsonObject = {}): JsonObject {
  const crd = setDefinitionDefaults({
    metadata: { name: `${plural}.example.com`, creationTimestamp: NOW, ...more },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  return definitionStrategy().prepareForCreate(crd, context);
}

const settle = (all: readonly JsonObject[], count?: number) =>
  settleDefinitions(all, { now: NOW, countInstances: () => count });

describe('settleDefinitions', () => {
  it('establishes a new definition and does not update it again', () => {
    const { updates } = settle([definition('widgets', 'Widget')]);
    expect(updates).toHaveLength(1);
    expect(isConditionTrue(updates[0]!, 'Established')).toBe(true);
    expect(settle(updates)).toEqual({ updates: [], cleanups: [] });
  });

  it('accepts a name for the older of two definitions, and for the other one after its deletion', () => {
    const younger = definition('apples', 'Thing', { creationTimestamp: '2026-02-01T00:00:00Z' });
    const elder = definition('pears', 'Thing', { creationTimestamp: '2026-01-01T00:00:00Z' });
    const { updates } = settle([younger, elder]);
    const [first, second] = updates as [JsonObject, JsonObject];
    expect(isConditionTrue(first, 'Established')).toBe(true);
    expect(conditionOf(second, 'NamesAccepted')).toMatchObject({ status: 'False', reason: 'ListKindConflict' });
    expect(conditionOf(second, 'Established')).toMatchObject({ status: 'False', reason: 'NotAccepted' });
    expect(isConditionTrue(settle([second]).updates[0]!, 'Established')).toBe(true);
  });

  it('does not establish a definition whose conversion webhook has an invalid CA bundle', () => {
    const crd = definition('widgets', 'Widget');
    const clientConfig = { url: 'https://a.test', caBundle: 'bm8=' };
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
    const { updates } = settle([{ ...crd, spec: { ...(crd['spec'] as JsonObject), conversion } }]);
    expect(conditionOf(updates[0]!, 'Established')).toMatchObject({ status: 'False', reason: 'InvalidCABundle' });
  });

  it('sets the approval condition of a definition in a protected group', () => {
    const crd = definition('widgets', 'Widget', { annotations: { 'api-approved.kubernetes.io': 'https://a.test/1' } });
    const { updates } = settle([{ ...crd, spec: { ...(crd['spec'] as JsonObject), group: 'example.k8s.io' } }]);
    expect(conditionOf(updates[0]!, 'KubernetesAPIApprovalPolicyConformant')).toMatchObject({
      status: 'True',
      message: 'approved in https://a.test/1',
    });
  });

  it('removes the finalizer of a definition only after its custom resources are deleted', () => {
    const established = settle([definition('widgets', 'Widget')]).updates[0]!;
    const marked = markDefinitionDeleted(established, NOW);
    expect(marked['metadata']).toMatchObject({ finalizers: [CLEANUP_FINALIZER], deletionTimestamp: NOW });
    const busy = settle([marked], 2);
    expect(busy.cleanups.map(({ name }) => name)).toEqual(['widgets.example.com']);
    expect(conditionOf(busy.updates[0]!, 'Terminating')).toMatchObject({ reason: 'InstanceDeletionInProgress' });
    expect(settle(busy.updates, 2).updates).toEqual([]);
    const done = settle(busy.updates, 0);
    expect(done.cleanups).toEqual([]);
    expect(done.updates[0]!['metadata']).not.toHaveProperty('finalizers');
    expect(conditionOf(done.updates[0]!, 'Terminating')).toMatchObject({
      status: 'False',
      reason: 'InstanceDeletionCompleted',
    });
  });

  it('keeps the finalizer of a definition while the number of its custom resources is unknown', () => {
    const marked = markDefinitionDeleted(settle([definition('widgets', 'Widget')]).updates[0]!, NOW);
    const { updates, cleanups } = settle([marked], undefined);
    expect(updates[0]!['metadata']).toMatchObject({ finalizers: [CLEANUP_FINALIZER] });
    expect(cleanups).toEqual([]);
  });

  it('sets the Terminating condition of a definition before it counts custom resources', () => {
    const established = settle([definition('widgets', 'Widget', { finalizers: [CLEANUP_FINALIZER] })]).updates[0]!;
    const deleted = {
      ...established,
      metadata: { ...(established['metadata'] as JsonObject), deletionTimestamp: NOW },
    };
    const { updates, cleanups } = settle([deleted], 0);
    expect(cleanups).toEqual([]);
    expect(conditionOf(updates[0]!, 'Terminating')).toMatchObject({ status: 'True' });
    expect(updates[0]!['metadata']).toMatchObject({ finalizers: [CLEANUP_FINALIZER] });
  });

  it('removes the finalizer of a definition at once if it was never established', () => {
    const marked = markDefinitionDeleted(definition('widgets', 'Widget'), NOW);
    expect(conditionOf(settle([marked], 5).updates[0]!, 'Terminating')).toMatchObject({ reason: 'NeverEstablished' });
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import type { Writer } from '../apply/track-update.js';
import { withScaleManagers } from './scale-managers.js';

const WRITER: Writer = {
  manager: 'scaler',
  apiVersion: 'apps/v1',
  subresource: 'scale',
  schema: {},
  isBuiltIn: true,
  now: '2026-01-02T03:04:05Z',
};

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1: object;
}

function objectOf(...entries: readonly Entry[]): JsonObject {
  const managedFields = entries.map((each) => ({ apiVersion: 'apps/v1', fieldsType: 'FieldsV1', ...each }));
  return { metadata: { managedFields }, spec: { replicas: 1, paused: true } } as unknown as JsonObject;
}

function scaled(live: JsonObject, replicasBefore: number, replicas: number): Entry[] {
  const changed = { ...live, spec: { ...(live['spec'] as JsonObject), replicas } };
  const change = { path: ['spec', 'replicas'], replicasBefore, replicas, writer: WRITER };
  const { managedFields = [] } = withScaleManagers(live, changed, change)['metadata'] as { managedFields?: Entry[] };
  return managedFields;
}

const BOTH = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } };
const ONLY_PAUSED = { 'f:spec': { 'f:paused': {} } };
const ONLY_REPLICAS = { 'f:spec': { 'f:replicas': {} } };
const TIME = '2025-01-01T00:00:00Z';

describe('the managed fields after a write to a Scale', () => {
  it('have the replicas in an entry of the writer without a time', () => {
    const live = objectOf({ manager: 'maker', operation: 'Update', time: TIME, fieldsV1: BOTH });
    expect(scaled(live, 1, 3)).toEqual([
      { ...base('scaler'), fieldsV1: ONLY_REPLICAS, subresource: 'scale' },
      { ...base('maker'), time: TIME, fieldsV1: ONLY_PAUSED },
    ]);
  });

  it('have the replicas of an updater in a separate entry if nothing changes', () => {
    const live = objectOf({ manager: 'maker', operation: 'Update', time: TIME, fieldsV1: BOTH });
    expect(scaled(live, 1, 1)).toEqual([
      { ...base('maker'), fieldsV1: ONLY_REPLICAS },
      { ...base('maker'), time: TIME, fieldsV1: ONLY_PAUSED },
    ]);
  });

  it('keep the entry of an applier if nothing changes', () => {
    const applier = { manager: 'maker', operation: 'Apply', time: TIME, fieldsV1: BOTH };
    expect(scaled(objectOf(applier), 1, 1)).toEqual([{ ...base('maker'), ...applier }]);
  });

  it('have no owner of the replicas after a scale to zero', () => {
    const live = objectOf({ manager: 'maker', operation: 'Update', time: TIME, fieldsV1: BOTH });
    expect(scaled(live, 1, 0)).toEqual([{ ...base('maker'), time: TIME, fieldsV1: ONLY_PAUSED }]);
  });

  it('stay empty for an object without managers', () => {
    expect(scaled({ metadata: {}, spec: { replicas: 1 } }, 1, 2)).toEqual([]);
  });
});

function base(manager: string): object {
  return { manager, operation: 'Update', apiVersion: 'apps/v1', fieldsType: 'FieldsV1' };
}

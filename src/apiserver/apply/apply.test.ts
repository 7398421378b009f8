import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import type { JsonObject } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { AppliedObjectError, type ApplyRequest, applySteps } from './apply.js';
import { readManagers } from './managed-fields.js';
import { trackUpdate, type Writer } from './track-update.js';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object', properties: { name: { type: 'string' }, managedFields: { type: 'array' } } },
    spec: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'string' },
        set: { type: 'array', listType: 'set', items: { type: 'string' } },
        parts: {
          type: 'array',
          listType: 'map',
          listKeys: ['id'],
          items: { type: 'object', properties: { id: { type: 'string' }, v: { type: 'string' } } },
        },
      },
    },
  },
};

function request(manager: string, more: Partial<ApplyRequest> = {}): ApplyRequest {
  const now = '2030-01-01T00:00:00Z';
  return { manager, apiVersion: 'v1', subresource: '', schema: SCHEMA, isBuiltIn: false, now, force: false, ...more };
}

const thing = (spec: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 't' }, spec });

function applyServerSide(live: JsonObject | undefined, applied: JsonObject, options: ApplyRequest): JsonObject {
  return runAtOnce(applySteps(live, applied, options));
}

describe('server-side apply', () => {
  it('does not change its arguments', () => {
    const live = applyServerSide(undefined, thing({ a: '1', parts: [{ id: 'x' }] }), request('one'));
    const applied = thing({ b: '1', parts: [{ id: 'y' }] });
    const before = JSON.stringify([live, applied]);
    applyServerSide(live, applied, request('two'));
    expect(JSON.stringify([live, applied])).toBe(before);
  });

  it('keeps the time of a manager that changes nothing', () => {
    const live = applyServerSide(undefined, thing({ a: '1' }), request('one'));
    const again = applyServerSide(live, thing({ a: '1' }), request('one', { now: '2031-01-01T00:00:00Z' }));
    expect(again).toEqual(live);
  });

  it('fails with an internal error if the live object has items without keys', () => {
    const live = thing({ parts: [{ v: '1' }] });
    expect(() => applyServerSide(live, thing({ a: '1' }), request('one'))).toThrow(AppliedObjectError);
  });

  it('restores the original object after all appliers have removed their fields', () => {
    const spec = fc.record(
      {
        a: fc.constantFrom('1', '2'),
        b: fc.constantFrom('1', '2'),
        // Not empty: whoever applies nothing but an empty list claims no field, and so has nothing to leave.
        set: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }),
        parts: fc.uniqueArray(fc.record({ id: fc.constantFrom('p', 'q'), v: fc.constantFrom('1', '2') }), {
          selector: ({ id }) => id,
          minLength: 1,
        }),
      },
      { requiredKeys: [] },
    );
    const step = fc.record({ manager: fc.constantFrom('one', 'two', 'three'), spec });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        let live: JsonObject | undefined;
        for (const { manager, spec: each } of steps) {
          live = applyServerSide(live, thing(each as JsonObject), request(manager, { force: true }));
          expect((live['spec'] as JsonObject | undefined) ?? {}).toMatchObject(withoutLists(each as JsonObject));
        }
        for (const manager of ['one', 'two', 'three']) {
          live = applyServerSide(
            live,
            { apiVersion: 'v1', kind: 'Thing', metadata: { name: 't' } },
            request(manager, { force: true }),
          );
        }
        expect(readManagers(live)?.size).toBe(0);
        expect(live!['spec'] ?? null).toBeNull();
      }),
      { numRuns: 50 },
    );
  });
});

function withoutLists({ set: _, parts: __, ...scalars }: JsonObject): JsonObject {
  return scalars;
}

describe('the managed fields of an update', () => {
  const writer: Writer = request('maker');

  it('are removed if items lack their keys, which validation refuses', () => {
    const object = trackUpdate(undefined, thing({ parts: [{ v: '1' }] }), writer);
    expect(object['metadata']).toEqual({ name: 't' });
  });

  it('are not changed by managers sent to a subresource', () => {
    const live = trackUpdate(undefined, thing({ a: '1' }), writer);
    const sent = { ...live, metadata: { name: 't', managedFields: [{}] } };
    expect(trackUpdate(live, sent, { ...writer, subresource: 'status' })).toEqual(live);
  });

  it('can be set by a client unless they are invalid', () => {
    const live = trackUpdate(undefined, thing({ a: '1' }), writer);
    const broken = { ...live, metadata: { name: 't', managedFields: [{ manager: 'x', operation: 'Odd' }] } };
    expect(trackUpdate(live, broken, writer)).toEqual(live);
    const [entry] = (live['metadata'] as { managedFields: JsonObject[] }).managedFields;
    const renamed = { ...live, metadata: { name: 't', managedFields: [{ ...entry, manager: 'renamed' }] } };
    expect([...readManagers(trackUpdate(live, renamed, writer))!.values()].map(({ name }) => name)).toEqual([
      'renamed',
    ]);
  });
});

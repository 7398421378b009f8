import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { builtInConversion } from './built-in-conversions.js';

async function there(place: { group: string; version: string; kind: string }, stored: string, object: JsonObject) {
  const conversion = builtInConversion(place, stored);
  const [served] = await conversion.toServed([object]);
  const [back] = await conversion.toStored([{ ...served!, apiVersion: `${place.group}/${place.version}` }]);
  return { served: served!, back: back! };
}

describe('built-in conversions', () => {
  it('convert a core Event to events.k8s.io and back', async () => {
    const event = {
      apiVersion: 'v1',
      involvedObject: { kind: 'Pod' },
      message: 'm',
      count: 2,
      reportingComponent: 'c',
      metadata: {},
    };
    const { served, back } = await there({ group: 'events.k8s.io', version: 'v1', kind: 'Event' }, 'v1', event);
    expect(served).toMatchObject({
      regarding: { kind: 'Pod' },
      note: 'm',
      deprecatedCount: 2,
      reportingController: 'c',
    });
    expect(back).toEqual(event);
  });

  it('keep the fields that autoscaling/v1 lacks in annotations', async () => {
    const cpu = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
    };
    const memory = {
      type: 'Resource',
      resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } },
    };
    const stored = {
      apiVersion: 'autoscaling/v2',
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, metrics: [memory, cpu], behavior: { x: 1 } },
    };
    const { served, back } = await there(
      { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
      'autoscaling/v2',
      stored,
    );
    expect(served['spec']).toEqual({ maxReplicas: 3, targetCPUUtilizationPercentage: 50 });
    expect(back).toEqual(stored);
  });

  it('are trivial for all other kinds', () => {
    expect(builtInConversion({ group: 'batch', version: 'v1', kind: 'Job' }, 'batch/v1').isTrivial).toBe(true);
  });
});

import type { JsonObject } from '../../kube/json.js';
import { FieldSet } from '../apply/field-set.js';
import { type Manager, type Managers, managerKey, readManagers, withManagers } from '../apply/managed-fields.js';
import type { Writer } from '../apply/track-update.js';

const SCALE_VERSION = 'autoscaling/v1';

export interface ScaleChange {
  /** Where the object keeps its replicas. */
  readonly path: readonly string[];
  readonly replicasBefore: number;
  readonly replicas: number;
  readonly writer: Writer;
}

/**
 * The object after a write through its Scale, with managed fields as kube-apiserver leaves them: who owns the replicas is
 * worked out on the Scale and carried back. Updaters lose the field to an entry of its own there, which has no time.
 */
export function withScaleManagers(live: JsonObject, changed: JsonObject, change: ScaleChange): JsonObject {
  const parents = readManagers(live) ?? new Map<string, Manager>();
  if (parents.size === 0) return withManagers(changed, parents);
  const field = FieldSet.of(change.path.map((name) => `f:${name}`));
  const owners = ownersOfScale(parents, field, change);
  const kept: [string, Manager][] = [];
  for (const [key, manager] of parents) {
    if (!owns(manager, field) || owners.delete(key)) {
      kept.push([key, manager]);
      continue;
    }
    const fields = manager.fields.difference(field);
    if (!fields.isEmpty) kept.push([key, { ...manager, fields }]);
  }
  for (const [key, { time: _, ...manager }] of owners) {
    kept.push([key, { ...manager, apiVersion: change.writer.apiVersion, fields: field }]);
  }
  return withManagers(changed, new Map(kept));
}

/** By the key they have on the Scale: only an applier has the same one there as on the object. */
function ownersOfScale(
  parents: Managers,
  field: FieldSet,
  { replicasBefore, replicas, writer }: ScaleChange,
): Map<string, Manager> {
  const owners = new Map<string, Manager>();
  const add = (manager: Manager): void => {
    const onScale = { ...manager, apiVersion: SCALE_VERSION };
    owners.set(managerKey(onScale), onScale);
  };
  if (replicasBefore === replicas) {
    for (const manager of parents.values()) if (owns(manager, field)) add(manager);
  } else if (replicas !== 0) {
    // No replicas is no field, which no one can own.
    const { manager, subresource, now } = writer;
    add({ name: manager, operation: 'Update', apiVersion: SCALE_VERSION, subresource, time: now, fields: field });
  }
  return owners;
}

function owns({ fields }: Manager, field: FieldSet): boolean {
  return !fields.intersection(field).isEmpty;
}

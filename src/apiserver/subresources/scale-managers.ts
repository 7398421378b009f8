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
 * Returns the object after a write through its Scale with the managed fields of kube-apiserver: the owner
 * of the replicas is determined on the Scale and copied back. An Update manager gives up the replicas to
 * a separate entry for the scale subresource, without a time.
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

/** Returns managers by their key on the Scale, which only for an applier is that on the object. */
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
    // Zero replicas are not a field of the Scale: nobody owns them.
    const { manager, subresource, now } = writer;
    add({ name: manager, operation: 'Update', apiVersion: SCALE_VERSION, subresource, time: now, fields: field });
  }
  return owners;
}

function owns({ fields }: Manager, field: FieldSet): boolean {
  return !fields.intersection(field).isEmpty;
}

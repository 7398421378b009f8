import { FieldSet } from './field-set.js';
import { compare, type Manager, type Managers, managerKey, seconds } from './managed-fields.js';

/** Bound on updaters: the oldest ones beyond it are joined under one name. */
const UPDATERS_MAX = 10;
const JOINED_NAME = 'ancient-changes';
/** The manager of fields that existed before tracking. */
export const BEFORE_FIRST_APPLY = 'before-first-apply';

/** Fields without an owner: the identity of the object, and fields that the server sets. */
const UNOWNED = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
);

/** Removes the fields that cannot have an owner. */
export function ownable(fields: FieldSet): FieldSet {
  return fields.difference(UNOWNED);
}

/** Removes the fields that a request cannot change, with everything below them. */
export function visible(fields: FieldSet, ignored: FieldSet | undefined): FieldSet {
  return ignored === undefined ? fields : fields.withoutBelow(ignored);
}

/** Removes fields from all managers but `self`, and managers without fields. */
export function withoutFields(managers: Managers, lost: FieldSet, self?: string): Map<string, Manager> {
  const remaining = new Map<string, Manager>();
  for (const [key, manager] of managers) {
    const fields = key === self ? manager.fields : manager.fields.difference(lost);
    if (!fields.isEmpty) remaining.set(key, { ...manager, fields });
  }
  return remaining;
}

export function capUpdaters(managers: Managers): Managers {
  if (managers.size <= UPDATERS_MAX) return managers;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= UPDATERS_MAX) return managers;
  updaters.sort(
    ([leftKey, left], [rightKey, right]) => compare(seconds(left), seconds(right)) || compare(leftKey, rightKey),
  );
  const capped = new Map(managers);
  const firstOf = new Map<string, string>();
  const joinedFields = new Map<string, FieldSet>();
  let count = updaters.length;
  for (const [key, manager] of updaters) {
    if (count <= UPDATERS_MAX) break;
    const first = firstOf.get(manager.apiVersion);
    if (first === undefined) {
      firstOf.set(manager.apiVersion, key);
      continue;
    }
    join(capped, joinedFields, { first, key, manager });
    count--;
  }
  return capped;
}

/** `joinedFields` are new sets by bucket, which grow instead of being copied for each joined manager. */
function join(
  managers: Map<string, Manager>,
  joinedFields: Map<string, FieldSet>,
  each: { first: string; key: string; manager: Manager },
): void {
  const { first, key, manager } = each;
  const bucket = { ...manager, name: JOINED_NAME, subresource: '' };
  const bucketKey = managerKey(bucket);
  const joined = managers.get(bucketKey) ?? managers.get(first)!;
  managers.delete(managers.has(bucketKey) ? key : first);
  managers.delete(key);
  // The bucket has the time of the youngest joined manager.
  let fields = joinedFields.get(bucketKey);
  if (fields === undefined) {
    fields = new FieldSet();
    fields.insertAll(joined.fields);
    joinedFields.set(bucketKey, fields);
  }
  fields.insertAll(manager.fields);
  managers.set(bucketKey, { ...bucket, fields });
}

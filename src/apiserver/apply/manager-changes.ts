import { FieldSet } from './field-set.js';
import { compare, type Manager, type Managers, managerKey, seconds } from './managed-fields.js';

/** More updaters than this are joined, oldest first, under one name. */
export const UPDATERS_MAX = 10;
const JOINED_NAME = 'ancient-changes';
/** What existed before anyone was tracked belongs to this name. */
export const BEFORE_FIRST_APPLY = 'before-first-apply';

/** Fields that no one owns: they say which object it is, or are the server's. */
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

/** Without the fields that no one owns. */
export function ownable(fields: FieldSet): FieldSet {
  return fields.difference(UNOWNED);
}

/** Without the fields that a request cannot change, and what is below them. */
export function visible(fields: FieldSet, ignored: FieldSet | undefined): FieldSet {
  return ignored === undefined ? fields : fields.withoutBelow(ignored);
}

/** All managers but `self` without these fields; who has none left is gone. */
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

/** `joinedFields` are sets of this joining's own, by their bucket: they grow, instead of being copied for each that is joined. */
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
  // The youngest time of what was joined.
  let fields = joinedFields.get(bucketKey);
  if (fields === undefined) {
    fields = new FieldSet();
    fields.insertAll(joined.fields);
    joinedFields.set(bucketKey, fields);
  }
  fields.insertAll(manager.fields);
  managers.set(bucketKey, { ...bucket, fields });
}

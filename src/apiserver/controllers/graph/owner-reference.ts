import { isObject, type Json, type JsonObject } from '../../../kube/json.js';
import { metadataOf } from '../../../kube/metadata-of.js';
import { textOf, textsOf } from '../answers.js';

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

export interface OwnerReference {
  readonly uid: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly blocksOwner: boolean;
}

/** What garbage collection needs to know of an object. */
export interface ObservedObject {
  readonly uid: string;
  /** Key of the resource it was seen in. */
  readonly resource: string;
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  readonly isDeleting: boolean;
  /** Waits for its dependents to be deleted. */
  readonly isForeground: boolean;
  /** Waits for its dependents to be released. */
  readonly isOrphaning: boolean;
}

export interface SeenIn {
  readonly key: string;
  readonly group: string;
  readonly kind: string;
}

/** Undefined for what has no uid and so can be neither owner nor dependent. */
export function observed(object: JsonObject, { key, group, kind }: SeenIn): ObservedObject | undefined {
  const metadata = metadataOf(object);
  const uid = textOf(metadata, 'uid');
  if (uid === '') return undefined;
  const finalizers = textsOf(metadata, 'finalizers');
  const isDeleting = metadata['deletionTimestamp'] !== undefined && metadata['deletionTimestamp'] !== null;
  return {
    uid,
    resource: key,
    group,
    kind,
    namespace: textOf(metadata, 'namespace'),
    name: textOf(metadata, 'name'),
    owners: ownersOf(metadata),
    isDeleting,
    isForeground: isDeleting && finalizers.includes(FOREGROUND_FINALIZER),
    isOrphaning: isDeleting && finalizers.includes(ORPHAN_FINALIZER),
  };
}

export function ownersOf(metadata: JsonObject): OwnerReference[] {
  const references = metadata['ownerReferences'];
  return Array.isArray(references) ? references.flatMap(referenceOf) : [];
}

function referenceOf(value: Json): OwnerReference[] {
  if (!isObject(value) || textOf(value, 'uid') === '') return [];
  return [
    {
      uid: textOf(value, 'uid'),
      apiVersion: textOf(value, 'apiVersion'),
      kind: textOf(value, 'kind'),
      name: textOf(value, 'name'),
      blocksOwner: value['blockOwnerDeletion'] === true,
    },
  ];
}

/** Whether a reference, made in a namespace, names this owner by more than its uid. */
export function isMeant(
  reference: OwnerReference,
  dependentNamespace: string,
  owner: Pick<ObservedObject, 'group' | 'kind' | 'namespace' | 'name'>,
): boolean {
  return (
    reference.kind === owner.kind &&
    reference.name === owner.name &&
    groupOf(reference.apiVersion) === owner.group &&
    (owner.namespace === '' || owner.namespace === dependentNamespace)
  );
}

/** Versions of one group hold the same objects. */
function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

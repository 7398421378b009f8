import { text, texts } from '../../../kube/fields.js';
import { isObject, type Json, type JsonObject } from '../../../kube/json.js';
import { metadataOf } from '../../../kube/metadata-of.js';

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

export interface OwnerReference {
  readonly uid: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly blocksOwner: boolean;
}

/** The parts of an object that garbage collection uses. */
export interface ObservedObject {
  readonly uid: string;
  /** Key of the resource in which it was seen. */
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

/** Returns undefined for an object without a UID, which can be neither owner nor dependent. */
export function observed(object: JsonObject, { key, group, kind }: SeenIn): ObservedObject | undefined {
  const metadata = metadataOf(object);
  const uid = text(metadata, 'uid');
  if (uid === '') return undefined;
  const finalizers = texts(metadata, 'finalizers');
  const isDeleting = metadata['deletionTimestamp'] !== undefined && metadata['deletionTimestamp'] !== null;
  return {
    uid,
    resource: key,
    group,
    kind,
    namespace: text(metadata, 'namespace'),
    name: text(metadata, 'name'),
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
  if (!isObject(value) || text(value, 'uid') === '') return [];
  return [
    {
      uid: text(value, 'uid'),
      apiVersion: text(value, 'apiVersion'),
      kind: text(value, 'kind'),
      name: text(value, 'name'),
      blocksOwner: value['blockOwnerDeletion'] === true,
    },
  ];
}

/** Returns whether a reference matches this owner by kind, name and namespace too. */
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

/** The group only: versions of one group have the same objects. */
function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

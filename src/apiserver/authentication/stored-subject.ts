import { text } from '../../kube/fields.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { TokenError } from './token-error.js';

/** An object that a token names: its service account, or the object that it is bound to. */
export interface NamedSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Throws TokenError unless the account exists, or was deleted after `deletedBeforeMs`. */
export function checkAccount(objects: ObjectReader, account: NamedSubject, deletedBeforeMs: number): void {
  const { namespace, name, uid } = account;
  const found = objects.get({ group: '', resource: 'serviceaccounts' }, namespace, name);
  if (!found) throw new TokenError(`serviceaccounts ${JSON.stringify(name)} not found`);
  const foundUid = text(metadataOf(found), 'uid');
  if (foundUid !== uid) throw new TokenError(`service account UID (${foundUid}) does not match claim (${uid})`);
  if (wasDeletedBefore(found, deletedBeforeMs)) {
    throw new TokenError(`service account ${namespace}/${name} has been deleted`);
  }
}

/** Throws TokenError unless the object exists, or was deleted after `deletedBeforeMs`. */
export function checkBoundObject(
  objects: ObjectReader,
  kind: 'pod' | 'secret' | 'node',
  bound: NamedSubject,
  deletedBeforeMs: number,
): void {
  const found = objects.get({ group: '', resource: `${kind}s` }, bound.namespace, bound.name);
  if (!found) throw new TokenError('service account token has been invalidated');
  const uid = text(metadataOf(found), 'uid');
  if (uid !== bound.uid) {
    throw new TokenError(`${kind} UID (${uid}) does not match service account ${kind} ref claim (${bound.uid})`);
  }
  if (wasDeletedBefore(found, deletedBeforeMs)) throw new TokenError('service account token has been invalidated');
}

function wasDeletedBefore(object: JsonObject, beforeMs: number): boolean {
  return Date.parse(text(metadataOf(object), 'deletionTimestamp')) < beforeMs;
}

import { type Json, type JsonObject, member } from '../../kube/json.js';
import { text } from '../authorization/policy-rule.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { TokenError } from './token-error.js';

/** What a token names: who it is for, or what it lives as long as. */
export interface NamedSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The account must be there still, the same one, and not deleted for longer than clocks may differ. */
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

/** What the token is bound to: it does not count a moment longer. */
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

export function metadataOf(object: JsonObject): Json | undefined {
  return member(object, 'metadata');
}

function wasDeletedBefore(object: JsonObject, beforeMs: number): boolean {
  const deletedMs = Date.parse(text(metadataOf(object), 'deletionTimestamp'));
  return deletedMs < beforeMs;
}

import { timingSafeEqual } from 'node:crypto';
import { child, text } from '../../kube/fields.js';
import { type JsonObject, member } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { type ServiceAccountFacts, splitServiceAccountUserName } from './service-account-user.js';
import { TokenError } from './token-error.js';

/** The issuer of tokens in Secrets (kubernetes.io/service-account-token), which never expire. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount';

const CLAIM_PREFIX = 'kubernetes.io/serviceaccount/';
const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';

/** Required claims, and their names in kube-apiserver's message about a missing one. */
const CLAIMS = [
  ['namespace', 'namespace'],
  ['secret.name', 'secretName'],
  ['service-account.name', 'serviceAccountName'],
  ['service-account.uid', 'serviceAccountUID'],
] as const;

/** Returns the account of a token from a Secret. Throws TokenError, also for a changed Secret. */
export function legacyFacts(claims: JsonObject, token: string, objects: ObjectReader): ServiceAccountFacts {
  const subject = text(claims, 'sub');
  if (subject === '') throw new TokenError('sub claim is missing');
  const [namespace, secretName, name, uid] = CLAIMS.map(([claim, label]) => {
    const value = text(claims, `${CLAIM_PREFIX}${claim}`);
    if (value === '') throw new TokenError(`${label} claim is missing`);
    return value;
  }) as [string, string, string, string];
  const account = splitServiceAccountUserName(subject);
  if (account?.namespace !== namespace || account.name !== name) throw new TokenError('sub claim is invalid');
  const secret = checkSecret(objects, { namespace, name: secretName }, token);
  checkLegacyAccount(objects, { namespace, name, uid });
  checkLabel(secret, { namespace, name, secretName });
  return { namespace, name, uid };
}

function checkSecret(objects: ObjectReader, secret: { namespace: string; name: string }, token: string): JsonObject {
  const found = objects.get({ group: '', resource: 'secrets' }, secret.namespace, secret.name);
  if (!found || text(metadataOf(found), 'deletionTimestamp') !== '') throw new TokenError('Token has been invalidated');
  const stored = Buffer.from(text(member(found, 'data'), 'token'), 'base64');
  const given = Buffer.from(token);
  if (stored.length !== given.length || !timingSafeEqual(stored, given)) {
    throw new TokenError("Token does not match server's copy");
  }
  return found;
}

function checkLegacyAccount(objects: ObjectReader, account: { namespace: string; name: string; uid: string }): void {
  const { namespace, name } = account;
  const found = objects.get({ group: '', resource: 'serviceaccounts' }, namespace, name);
  if (!found) throw new TokenError(`serviceaccounts ${JSON.stringify(name)} not found`);
  if (text(metadataOf(found), 'deletionTimestamp') !== '') {
    throw new TokenError(`ServiceAccount ${namespace}/${name} has been deleted`);
  }
  const uid = text(metadataOf(found), 'uid');
  if (uid !== account.uid) throw new TokenError(`ServiceAccount UID (${uid}) does not match claim (${account.uid})`);
}

/** Throws TokenError for a Secret that a controller has labelled as unused for long. */
function checkLabel(secret: JsonObject, names: { namespace: string; name: string; secretName: string }): void {
  if (text(child(metadataOf(secret), 'labels'), INVALID_SINCE_LABEL) === '') return;
  const { namespace, name, secretName } = names;
  throw new TokenError(
    `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. ` +
      'Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the ' +
      `'${INVALID_SINCE_LABEL}' label from the secret to temporarily allow use of this token`,
  );
}

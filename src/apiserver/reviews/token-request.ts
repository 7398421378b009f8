import { child, text, texts } from '../../kube/fields.js';
import { type JsonObject, member } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { timestamp } from '../../kube/timestamp.js';
import type { BoundObject } from '../authentication/service-account-tokens.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { FieldProblem } from '../schema/validate.js';
import { goQuote } from '../values/go-quote.js';
import { invalid, invalidField, type ReviewHandler, type ReviewRequest } from './review.js';
import { pick, typeOf } from './review-object.js';

const GROUP = 'authentication.k8s.io';
const KIND = 'TokenRequest';
const DEFAULT_SECONDS = 3600;
const SECONDS_MIN = 600;
const SECONDS_MAX = 2 ** 32;
/** The kubelet's default. Such tokens live longer, for clients that never read the file again. */
const KUBELET_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

interface Stored {
  readonly name: string;
  readonly uid: string;
}

/** Issues a token for a service account: the `token` subresource. */
export const tokenRequest: ReviewHandler = async (request, dependencies) => {
  checkNames(request);
  const account = serviceAccount(request, dependencies.objects);
  const spec = child(request.object, 'spec') ?? {};
  const wanted = texts(spec, 'audiences');
  const audiences = wanted.length > 0 ? wanted : dependencies.tokens.apiAudiences;
  const seconds = expirationSeconds(spec);
  const ref = child(spec, 'boundObjectRef');
  const nowMs = dependencies.tokens.nowMs;
  const metadata = { ...account, namespace: request.namespace, creationTimestamp: timestamp(nowMs) };
  const boundObjectRef = ref ? pick(ref, ['kind', 'apiVersion', 'name', 'uid']) : null;
  await request.admit({
    ...request.object,
    metadata: { ...child(request.object, 'metadata'), ...metadata },
    spec: { audiences: [...audiences], expirationSeconds: seconds, boundObjectRef },
    status: { token: '', expirationTimestamp: null },
  });
  const bound = ref && boundObject(ref, request, dependencies.objects);
  const isForApi = audiences.every((audience) => dependencies.tokens.apiAudiences.includes(audience));
  const extended = bound?.kind === 'Pod' && seconds === KUBELET_SECONDS && isForApi;
  const token = dependencies.tokens.issue({
    namespace: request.namespace,
    ...account,
    audiences,
    expirationSeconds: extended ? EXTENDED_SECONDS : seconds,
    ...(bound ? { boundObject: bound } : {}),
    ...(extended ? { warnAfterSeconds: seconds } : {}),
  });
  return {
    ...typeOf(request.object),
    metadata,
    spec: { audiences: [...audiences], expirationSeconds: seconds, boundObjectRef },
    // The requested lifetime, even if that of the token is extended.
    status: { token, expirationTimestamp: timestamp(nowMs + seconds * 1000) },
  };
};

function checkNames({ object, name, namespace }: ReviewRequest): void {
  const metadata = child(object, 'metadata');
  const objectNamespace = text(metadata, 'namespace');
  if (objectNamespace !== '' && objectNamespace !== namespace) {
    const problem = 'the namespace of the provided object does not match the namespace sent on the request';
    throw new StatusError('BadRequest', problem);
  }
  const objectName = text(metadata, 'name');
  if (objectName === '' || objectName === name) return;
  const problem = invalidField('metadata.name', objectName, 'must match the service account name if specified');
  throw invalid({ group: GROUP, kind: KIND, name }, [problem]);
}

function serviceAccount({ object, name, namespace }: ReviewRequest, objects: ObjectReader): Stored {
  const { uid } = stored(objects, 'serviceaccounts', namespace, name);
  const wanted = text(child(object, 'metadata'), 'uid');
  if (wanted !== '' && wanted !== uid) {
    const problem = `the UID in the token request (${wanted}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: GROUP, kind: KIND, name }, problem);
  }
  return { name, uid };
}

function expirationSeconds(spec: JsonObject): number {
  const value = member(spec, 'expirationSeconds');
  const seconds = typeof value === 'number' ? value : DEFAULT_SECONDS;
  const problems: FieldProblem[] = [];
  const field = 'spec.expirationSeconds';
  if (seconds < SECONDS_MIN) {
    problems.push(invalidField(field, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > SECONDS_MAX) {
    problems.push(invalidField(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  if (problems.length > 0) throw invalid({ group: GROUP, kind: KIND, name: '' }, problems);
  return seconds;
}

function boundObject(ref: JsonObject, { name: account, namespace }: ReviewRequest, objects: ObjectReader): BoundObject {
  const kind = boundKind(ref);
  const name = text(ref, 'name');
  const resource = `${kind.toLowerCase()}s`;
  const found = stored(objects, resource, kind === 'Node' ? '' : namespace, name);
  const podSpec = kind === 'Pod' ? (child(found.object, 'spec') ?? {}) : undefined;
  if (podSpec && text(podSpec, 'serviceAccountName') !== account) {
    const problem = `cannot bind token for serviceaccount ${goQuote(account)} to pod running with different serviceaccount name.`;
    throw new StatusError('BadRequest', problem);
  }
  const wanted = text(ref, 'uid');
  if (wanted !== '' && wanted !== found.uid) {
    const problem = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', kind, name }, problem);
  }
  const node = podSpec && nodeOf(podSpec, objects);
  return { kind, name, uid: found.uid, ...(node ? { node } : {}) };
}

function boundKind(ref: JsonObject): BoundObject['kind'] {
  const kind = text(ref, 'kind');
  const apiVersion = text(ref, 'apiVersion');
  const isCore = !apiVersion.includes('/');
  if (isCore && (kind === 'Pod' || kind === 'Secret' || kind === 'Node')) return kind;
  const groupVersion = isCore ? `/${apiVersion}` : apiVersion;
  throw new StatusError('BadRequest', `cannot bind token to object of type ${groupVersion}, Kind=${kind}`);
}

/** A node that does not exist has a name only. */
function nodeOf(podSpec: JsonObject, objects: ObjectReader): Stored | undefined {
  const name = text(podSpec, 'nodeName');
  if (name === '') return undefined;
  const node = objects.get({ group: '', resource: 'nodes' }, '', name);
  return { name, uid: node ? text(member(node, 'metadata'), 'uid') : '' };
}

function stored(
  objects: ObjectReader,
  resource: string,
  namespace: string,
  name: string,
): { object: JsonObject; uid: string } {
  const object = objects.get({ group: '', resource }, namespace, name);
  if (!object) {
    throw new StatusError('NotFound', `${resource} ${goQuote(name)} not found`, { name, kind: resource });
  }
  return { object, uid: text(member(object, 'metadata'), 'uid') };
}

function conflict(what: { group: string; kind: string; name: string }, problem: string): StatusError {
  const { group, kind, name } = what;
  const qualified = group === '' ? kind : `${kind}.${group}`;
  return new StatusError('Conflict', `Operation cannot be fulfilled on ${qualified} ${goQuote(name)}: ${problem}`, {
    name,
    ...(group === '' ? {} : { group }),
    kind,
  });
}

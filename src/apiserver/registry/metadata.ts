import { randomInt, randomUUID } from 'node:crypto';
import { isObject, type Json, type JsonObject, jsonEqual, objectMember } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import {
  type FieldProblem,
  forbidden,
  invalid,
  invalidText,
  PROBLEMS_MAX,
  required,
  tooLong,
} from '../schema/field-problems.js';
import { ANNOTATIONS_BYTES_MAX, labelKeyProblems, labelValueProblems } from '../values/object-meta.js';
import type { ResourceType } from './resource-type.js';

/** Without vowels and look-alikes, so that no suffix is a word by chance. */
const SUFFIX_CHARS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const GENERATED_NAME_MAX = 63;

export function finalizersOf(object: JsonObject): string[] {
  const finalizers = metadataOf(object)['finalizers'];
  return Array.isArray(finalizers) ? (finalizers as string[]) : [];
}

export function isNamespace({ group, resource }: Pick<ResourceType, 'group' | 'resource'>): boolean {
  return group === '' && resource === 'namespaces';
}

/** Returns whether an object is a Namespace that its `spec.finalizers` keep from being removed. */
export function isHeldNamespace(type: ResourceType, object: JsonObject): boolean {
  const { finalizers } = objectMember(object, 'spec');
  return isNamespace(type) && Array.isArray(finalizers) && finalizers.length > 0;
}

export function generatedName(prefix: string): string {
  let suffix = '';
  // One random number, read as five digits.
  let drawn = randomInt(SUFFIX_CHARS.length ** SUFFIX_LENGTH);
  for (let index = 0; index < SUFFIX_LENGTH; index++) {
    suffix += SUFFIX_CHARS[drawn % SUFFIX_CHARS.length];
    drawn = Math.floor(drawn / SUFFIX_CHARS.length);
  }
  return prefix.slice(0, GENERATED_NAME_MAX - SUFFIX_LENGTH) + suffix;
}

/** Sets the metadata of a new object that only the server decides about. */
export function metadataForCreate(object: JsonObject, type: ResourceType, namespace: string, now: string): JsonObject {
  // Member by member: several spreads in one literal took half the time of this function.
  const {
    deletionTimestamp: _,
    deletionGracePeriodSeconds: __,
    selfLink: ___,
    generation: ____,
    ...metadata
  } = metadataOf(object);
  const { name, generateName: prefix } = metadata;
  const isUnnamed = name === undefined || name === '';
  if (isUnnamed && typeof prefix === 'string' && prefix !== '') metadata['name'] = generatedName(prefix);
  metadata['uid'] = randomUUID();
  metadata['creationTimestamp'] = now;
  if (type.strategy.hasGeneration) metadata['generation'] = 1;
  if (type.namespaced) metadata['namespace'] = namespace;
  else delete metadata['namespace'];
  return withMetadata(object, metadata);
}

/** Restores the metadata that an update cannot change. */
export function metadataForUpdate(object: JsonObject, live: JsonObject): JsonObject {
  const metadata = { ...metadataOf(object) };
  const before = metadataOf(live);
  for (const name of KEPT) {
    const value = before[name];
    if (value === undefined) delete metadata[name];
    else metadata[name] = value;
  }
  for (const name of ['namespace', 'uid']) {
    if ((metadata[name] ?? '') === '' && before[name] !== undefined) metadata[name] = before[name];
  }
  return withMetadata(object, metadata);
}

const KEPT = ['selfLink', 'generation', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'];

/** Increments the generation if more than metadata and, with a status subresource, status changed. */
export function withGeneration(object: JsonObject, live: JsonObject, type: ResourceType): JsonObject {
  if (!type.strategy.hasGeneration) return object;
  const { metadata: _, status: __, kind: ___, apiVersion: ____, ...wished } = object;
  const { metadata: _____, status: ______, kind: _______, apiVersion: ________, ...before } = live;
  const isChanged =
    !jsonEqual(wished, before) || (!type.strategy.hasStatus && !jsonEqual(object['status'], live['status']));
  const generation = metadataOf(live)['generation'];
  if (!isChanged || typeof generation !== 'number') return object;
  return withMetadata(object, { ...metadataOf(object), generation: generation + 1 });
}

export function withMetadata(object: JsonObject, metadata: JsonObject): JsonObject {
  return { ...object, metadata };
}

/** Returns problems with the messages and in the order of kube-apiserver. */
export function metadataProblems(object: JsonObject, type: ResourceType): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const metadata = metadataOf(object);
  const { generateName, name, labels, annotations, ownerReferences, finalizers } = metadata;
  const refuse: Refuse = (field, value, why) => {
    if (problems.length < PROBLEMS_MAX) problems.push(invalid(field, value, why));
  };
  if (typeof generateName === 'string' && generateName !== '') {
    for (const why of type.strategy.nameProblems(generateName, true))
      refuse('metadata.generateName', generateName, why);
  }
  if (typeof name !== 'string' || name === '') {
    problems.push(required('metadata.name', 'name or generateName is required'));
  } else {
    for (const why of type.strategy.nameProblems(name, false)) refuse('metadata.name', name, why);
  }
  if (isObject(labels)) checkLabels(labels, refuse, problems);
  if (isObject(annotations)) checkAnnotations(annotations, refuse, problems);
  if (Array.isArray(ownerReferences)) checkOwners(ownerReferences, problems, refuse);
  if (Array.isArray(finalizers)) {
    for (const finalizer of finalizers) {
      if (problems.length >= PROBLEMS_MAX) break;
      for (const why of labelKeyProblems(String(finalizer))) refuse('metadata.finalizers', finalizer, why);
    }
    if (type.origin === 'built-in' && !GROUPS_WITH_FREE_FINALIZERS.has(type.group))
      checkFinalizerNames(finalizers, refuse, problems);
  }
  return problems;
}

export const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);
/** kube-apiserver does not check the names of finalizers in these groups. */
const GROUPS_WITH_FREE_FINALIZERS = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

function checkFinalizerNames(finalizers: readonly Json[], refuse: Refuse, problems: readonly FieldProblem[]): void {
  for (const [index, finalizer] of finalizers.entries()) {
    if (problems.length >= PROBLEMS_MAX) break;
    const name = String(finalizer);
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) continue;
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    refuse(`metadata.finalizers[${index}]`, finalizer, why);
  }
}

type Refuse = (field: string, value: Json, why: string) => void;

function checkLabels(labels: JsonObject, refuse: Refuse, problems: readonly FieldProblem[]): void {
  for (const key of Object.keys(labels).sort()) {
    if (problems.length >= PROBLEMS_MAX) break;
    for (const why of labelKeyProblems(key)) refuse('metadata.labels', key, why);
    for (const why of labelValueProblems(String(labels[key]))) refuse('metadata.labels', labels[key]!, why);
  }
}

function checkAnnotations(annotations: JsonObject, refuse: Refuse, problems: FieldProblem[]): void {
  let bytes = 0;
  for (const key of Object.keys(annotations)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(String(annotations[key]));
    if (problems.length >= PROBLEMS_MAX) continue;
    // The prefix of an annotation key may have capital letters.
    for (const why of labelKeyProblems(key.toLowerCase())) refuse('metadata.annotations', key, why);
  }
  if (bytes > ANNOTATIONS_BYTES_MAX) problems.push(tooLong('metadata.annotations', ANNOTATIONS_BYTES_MAX));
}

function checkOwners(owners: readonly Json[], problems: FieldProblem[], refuse: Refuse): void {
  let controller: string | undefined;
  let repeated = 0;
  for (const [index, owner] of owners.entries()) {
    if (!isObject(owner)) continue;
    const field = (name: string): string => `metadata.ownerReferences[${index}].${name}`;
    for (const [name, why] of OWNER_FIELDS) {
      if ((owner[name] ?? '') === '') refuse(field(name), owner[name] ?? '', why);
    }
    if (owner['controller'] !== true) continue;
    const described = `${owner['kind']}/${owner['name']}`;
    if (controller !== undefined && problems.length < PROBLEMS_MAX && ++repeated <= CONTROLLERS_TOLD_MAX) {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${described}`;
      problems.push(invalidText('metadata.ownerReferences', JSON.stringify(owners), why));
    }
    controller ??= described;
  }
}

/** Bound on problems that each show all owners. */
const CONTROLLERS_TOLD_MAX = 10;

const OWNER_FIELDS: readonly (readonly [string, string])[] = [
  ['apiVersion', 'version must not be empty'],
  ['kind', 'must not be empty'],
  ['name', 'must not be empty'],
  ['uid', 'must not be empty'],
];

export function metadataUpdateProblems(object: JsonObject, live: JsonObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const after = metadataOf(object);
  const before = metadataOf(live);
  for (const name of ['name', 'namespace', 'uid']) {
    if ((after[name] ?? '') === (before[name] ?? '')) continue;
    problems.push(invalid(`metadata.${name}`, after[name] ?? '', 'field is immutable'));
  }
  const known = new Set(finalizersOf(live));
  const added = finalizersOf(object).filter((each) => !known.has(each));
  if (before['deletionTimestamp'] !== undefined && added.length > 0) {
    const list = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
    const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
    problems.push(forbidden('metadata.finalizers', why));
  }
  return problems;
}

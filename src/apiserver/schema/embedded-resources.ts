import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from '../values/object-meta.js';
import { type FieldProblem, invalid, PROBLEMS_MAX, required } from './field-problems.js';
import { type Schema, walkValues } from './schema.js';

/** The problems of the type and name of objects inside another (`x-kubernetes-embedded-resource`). */
export function embeddedResourceProblems(value: Json, schema: Schema, path = ''): FieldProblem[] {
  const problems: FieldProblem[] = [];
  walkValues(value, schema, path, (each, { embeddedResource }, place) => {
    if (isObject(each) && embeddedResource === true) problems.push(...identityProblems(each, place));
    return problems.length < PROBLEMS_MAX;
  });
  return problems;
}

function identityProblems(object: JsonObject, path: string): FieldProblem[] {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const [apiVersion, kind] = [member(object, 'apiVersion'), member(object, 'kind')];
  return [
    ...(apiVersion === undefined ? [required(at('apiVersion'))] : apiVersionProblems(apiVersion, at('apiVersion'))),
    ...(kind === undefined ? [required(at('kind'))] : kindProblems(kind, at('kind'))),
    ...metadataProblems(member(object, 'metadata'), at('metadata')),
  ];
}

function apiVersionProblems(apiVersion: Json, field: string): FieldProblem[] {
  if (typeof apiVersion !== 'string') return [invalid(field, apiVersion, 'must be a string')];
  if (apiVersion === '') return [invalid(field, apiVersion, 'must not be empty')];
  if (apiVersion.split('/').length <= 2) return [];
  return [invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

function kindProblems(kind: Json, field: string): FieldProblem[] {
  if (typeof kind !== 'string') return [invalid(field, kind, 'must be a string')];
  if (kind === '') return [invalid(field, kind, 'must not be empty')];
  const problems = dns1035LabelProblems(kind.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid(field, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

function metadataProblems(metadata: Json | undefined, field: string): FieldProblem[] {
  if (metadata === undefined) return [];
  if (!isObject(metadata)) return [invalid(field, metadata, 'must be an object')];
  return [
    ...textProblems(metadata, 'name', field, pathSegmentProblems),
    ...textProblems(metadata, 'generateName', field, pathSegmentProblems),
    ...textProblems(metadata, 'namespace', field, dnsLabelProblems),
    ...labelProblems(member(metadata, 'labels'), `${field}.labels`),
    ...annotationProblems(member(metadata, 'annotations'), `${field}.annotations`),
  ];
}

function textProblems(
  metadata: JsonObject,
  name: string,
  field: string,
  problemsOf: (text: string) => string[],
): FieldProblem[] {
  const value = member(metadata, name);
  if (value === undefined || value === '') return [];
  if (typeof value !== 'string') return [invalid(`${field}.${name}`, value, 'must be a string')];
  return problemsOf(value).map((text) => invalid(`${field}.${name}`, value, text));
}

function labelProblems(labels: Json | undefined, field: string): FieldProblem[] {
  if (!isObject(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => [
    ...labelKeyProblems(key).map((text) => invalid(field, key, text)),
    ...labelValueProblems(String(value)).map((text) => invalid(field, value, text)),
  ]);
}

function annotationProblems(annotations: Json | undefined, field: string): FieldProblem[] {
  if (!isObject(annotations)) return [];
  return Object.keys(annotations).flatMap((key) =>
    labelKeyProblems(key.toLowerCase()).map((text) => invalid(field, key, text)),
  );
}

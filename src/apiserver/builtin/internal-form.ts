import { readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';

/** A field of an internal type: the zero value of a plain field, the type of a structured one, or embedded metadata. */
type InternalField =
  | string
  | number
  | boolean
  | null
  | { readonly pointer: string }
  | { readonly list: string }
  | { readonly struct: string }
  | { readonly inlined: true };

type InternalForms = Readonly<Record<string, Readonly<Record<string, InternalField>>>>;

/** Fields of kube-apiserver's internal types in the order of Go, recorded by test/real/record-go-shapes.ts. */
const DATA = new URL('./data/internal-forms.json', import.meta.url);

let recordedForms: InternalForms | undefined;

function fieldsOf(typeName: string): Readonly<Record<string, InternalField>> | undefined {
  recordedForms ??= JSON.parse(readFileSync(DATA, 'utf8')) as InternalForms;
  return Object.hasOwn(recordedForms, typeName) ? recordedForms[typeName] : undefined;
}

/** Fields of a pod's spec in the API that belong to its security context inside kube-apiserver. */
const OF_SECURITY_CONTEXT = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

/** A value in kube-apiserver's internal form, as messages print it: all fields, by their names in Go. */
export function internalForm(value: Json | undefined, typeName: string): Json {
  const fields = fieldsOf(typeName);
  if (!isObject(value) || fields === undefined) return value ?? null;
  const given = typeName === 'PodSpec' ? withSecurityContext(value) : value;
  // The names of both forms differ in capitals only: `podIP` is `PodIP`.
  const byName = new Map(Object.keys(given).map((key) => [key.toLowerCase(), given[key]]));
  const result: JsonObject = {};
  for (const [name, field] of Object.entries(fields)) {
    if (isInlined(field)) Object.assign(result, metadataForm(byName.get('metadata')));
    else setMember(result, name, fieldForm(byName.get(name.toLowerCase()), field));
  }
  return result;
}

function isInlined(field: InternalField): field is { readonly inlined: true } {
  return typeof field === 'object' && field !== null && 'inlined' in field;
}

function withSecurityContext(spec: JsonObject): JsonObject {
  const context: JsonObject = { ...(isObject(spec['securityContext']) ? spec['securityContext'] : {}) };
  for (const name of OF_SECURITY_CONTEXT) if (spec[name] !== undefined) context[name] = spec[name];
  return { ...spec, securityContext: context };
}

function fieldForm(value: Json | undefined, field: Exclude<InternalField, { readonly inlined: true }>): Json {
  if (field === null) return sortedMap(value ?? null);
  if (typeof field !== 'object') return value ?? field;
  if ('pointer' in field) return value === undefined ? null : internalForm(value, field.pointer);
  if ('struct' in field) return internalForm(value ?? {}, field.struct);
  return Array.isArray(value) ? value.map((item) => internalForm(item, field.list)) : null;
}

/** In the order of the Go type. */
const METADATA = ['name', 'generateName', 'namespace', 'labels', 'annotations', 'ownerReferences', 'finalizers'];

function metadataForm(metadata: Json | undefined): JsonObject {
  const result: JsonObject = {};
  if (!isObject(metadata)) return result;
  for (const name of METADATA) if (metadata[name] !== undefined) result[name] = sortedMap(metadata[name]);
  return result;
}

/** Maps are printed in the order of their keys, structures in that of their fields. */
function sortedMap(value: Json): Json {
  if (!isObject(value) || Object.values(value).some((each) => typeof each === 'object')) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort()) setMember(result, key, value[key]!);
  return result;
}

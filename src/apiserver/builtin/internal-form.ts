import { isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import { INTERNAL_FORMS } from './internal-forms.js';

interface InternalField {
  readonly name: string;
  /** Empty for what is written in between as it is. */
  readonly kind: string;
  readonly typeName: string;
}

const FORMS: ReadonlyMap<string, readonly InternalField[]> = new Map(
  INTERNAL_FORMS.trim()
    .split('\n')
    .map((line) => {
      const [type = '', ...fields] = line.split(' ');
      return [type, fields.filter((field) => field !== '').map(fieldOf)];
    }),
);

function fieldOf(text: string): InternalField {
  if (text.startsWith('...')) return { name: text.slice(3), kind: '', typeName: '' };
  const [name = '', kind = ''] = text.split(':');
  return { name, kind: kind.charAt(0), typeName: kind.slice(1) };
}

/** Of a pod as a whole in the API, of its security context inside kube-apiserver. */
const OF_SECURITY_CONTEXT = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

/** A value as kube-apiserver holds it itself and prints it in messages: all fields, by their names in Go. */
export function internalForm(value: Json | undefined, typeName: string): Json {
  const fields = FORMS.get(typeName);
  if (!isObject(value) || fields === undefined) return value ?? null;
  const given = typeName === 'PodSpec' ? withSecurityContext(value) : value;
  // Names differ in their capitals: `podIP` is `PodIP`.
  const byName = new Map(Object.keys(given).map((key) => [key.toLowerCase(), given[key]]));
  const result: JsonObject = {};
  for (const { name, kind, typeName: inner } of fields) {
    if (kind === '') Object.assign(result, metadataForm(byName.get('metadata')));
    else setMember(result, name, fieldForm(byName.get(name.toLowerCase()), kind, inner));
  }
  return result;
}

function withSecurityContext(spec: JsonObject): JsonObject {
  const context: JsonObject = { ...(isObject(spec['securityContext']) ? spec['securityContext'] : {}) };
  for (const name of OF_SECURITY_CONTEXT) if (spec[name] !== undefined) context[name] = spec[name];
  return { ...spec, securityContext: context };
}

function fieldForm(value: Json | undefined, kind: string, typeName: string): Json {
  switch (kind) {
    case 'p':
      return value === undefined ? null : internalForm(value, typeName);
    case 'o':
      return internalForm(value ?? {}, typeName);
    case 'l':
      return Array.isArray(value) ? value.map((item) => internalForm(item, typeName)) : null;
    case 's':
      return value ?? '';
    case 'n':
      return value ?? 0;
    case 'b':
      return value ?? false;
    case 'q':
      return value ?? '0';
    default:
      return sortedMap(value ?? null);
  }
}

/** In Go's order, which is not that of the alphabet. */
const METADATA = ['name', 'generateName', 'namespace', 'labels', 'annotations', 'ownerReferences', 'finalizers'];

function metadataForm(metadata: Json | undefined): JsonObject {
  const result: JsonObject = {};
  if (!isObject(metadata)) return result;
  for (const name of METADATA) if (metadata[name] !== undefined) result[name] = sortedMap(metadata[name]);
  return result;
}

/** Maps are printed by key; what has fields of its own keeps their order. */
function sortedMap(value: Json): Json {
  if (!isObject(value) || Object.values(value).some((each) => typeof each === 'object')) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort()) setMember(result, key, value[key]!);
  return result;
}

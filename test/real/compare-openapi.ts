/** What may differ between two OpenAPI v3 documents of the same API, taken out of both, and the rest compared. */
import { isObject, type Json, type JsonObject, jsonEqual } from '../../src/kube/json.js';

/** Prose, and what no client of Kubernetes reads. */
const LEFT_OUT = new Set(['description', 'x-kubernetes-unions']);
/** Named by kinds of every group there is; ours name their own document's. */
const OF_EVERY_GROUP = /\.(DeleteOptions|WatchEvent)$/;
/** A parameter of a feature that is not served. */
const NOT_SERVED = new Set(['shardSelector']);

export function compareOpenApi(real: JsonObject, ours: JsonObject): string[] {
  const schemas = (document: JsonObject): JsonObject =>
    ((document['components'] as JsonObject)['schemas'] ?? {}) as JsonObject;
  return [
    ...compareMembers('type', schemas(real), schemas(ours), (schema, name) =>
      plainSchema(schema, OF_EVERY_GROUP.test(name)),
    ),
    ...compareMembers('path', real['paths'] as JsonObject, ours['paths'] as JsonObject, plainPath),
  ];
}

function compareMembers(
  what: string,
  real: JsonObject,
  ours: JsonObject,
  plain: (value: Json, name: string) => Json,
): string[] {
  const names = [...new Set([...Object.keys(real), ...Object.keys(ours)])];
  return names.flatMap((name) => {
    if (real[name] === undefined || ours[name] === undefined) {
      return [`${what} ${name}: only ${real[name] === undefined ? 'ours' : 'the real one'}`];
    }
    const [left, right] = [plain(real[name], name), plain(ours[name], name)];
    return jsonEqual(left, right) ? [] : [`${what} ${name}:\n  ${JSON.stringify(left)}\n  ${JSON.stringify(right)}`];
  });
}

function plainSchema(schema: Json, isOfEveryGroup = false): Json {
  if (Array.isArray(schema)) return schema.map((each) => plainSchema(each));
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(
    ([name, value]) =>
      (!LEFT_OUT.has(name) || isObject(value)) && !(isOfEveryGroup && name === 'x-kubernetes-group-version-kind'),
  );
  const plain = Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'default' || name === 'enum' ? value : plainSchema(value)]),
  );
  // Its members are names of fields, whatever these are.
  if (isObject(schema['properties'])) {
    const fields = Object.entries(schema['properties']).map(([name, field]) => [name, plainSchema(field)]);
    plain['properties'] = Object.fromEntries(fields) as JsonObject;
  }
  for (const name of ['items', 'additionalProperties']) {
    const inner = plain[name];
    // The default of an item has no meaning, and surfaces do not keep it.
    if (isObject(inner)) plain[name] = unwrapped(without(inner, 'default'));
  }
  return unwrapped(plain);
}

/** A reference alone, however it is written. */
function unwrapped(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  const isAlone = Array.isArray(allOf) && allOf.length === 1 && Object.keys(rest).length === 0;
  return isAlone ? (allOf[0] as JsonObject) : schema;
}

function without(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([each]) => each !== name));
}

/** What clients read of a path: which operations on which kinds with which parameters and bodies. */
function plainPath(item: Json): Json {
  const operations = Object.entries(item as JsonObject).map(([method, value]) => [
    method,
    Array.isArray(value) ? parameters(value) : plainOperation(value as JsonObject),
  ]);
  return Object.fromEntries(operations) as JsonObject;
}

function plainOperation(operation: JsonObject): JsonObject {
  const body = operation['requestBody'];
  const content = isObject(body) ? (body['content'] as JsonObject) : {};
  const action = operation['x-kubernetes-action'] ?? null;
  // For custom resources kube-apiserver shows this as if it were a list; it takes what any deletion takes.
  const isMisleading = action === 'deletecollection' && content['*/*'] === undefined;
  return {
    tags: operation['tags'] ?? null,
    operationId: operation['operationId'] ?? null,
    action,
    kind: operation['x-kubernetes-group-version-kind'] ?? null,
    parameters: isMisleading ? [] : parameters((operation['parameters'] ?? []) as Json[]),
    takes: Object.entries(isMisleading ? {} : content)
      .map(([type, value]) => `${type} ${JSON.stringify((value as JsonObject)['schema'])}`)
      .sort(),
  };
}

function parameters(list: readonly Json[]): Json {
  return list
    .filter(isObject)
    .filter(({ name }) => !NOT_SERVED.has(String(name)))
    .map(({ name, in: place, required = false, schema }) =>
      [name, place, required, (schema as JsonObject)['type']].join(' '),
    )
    .sort();
}

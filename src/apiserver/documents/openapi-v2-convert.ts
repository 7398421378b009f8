import { isObject, type Json, type JsonObject, member, setMember } from '../../kube/json.js';
import { COMPONENTS, METHODS, mapMembers } from './openapi-schema.js';

const DEFINITIONS = '#/definitions/';
/** Members that OpenAPI v2 lacks, or that kube-apiserver omits because old clients fail on them. */
const LEFT_OUT = new Set(['default', 'nullable', 'oneOf', 'anyOf', 'not', 'allOf', 'properties', 'items']);
const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/** Converts a type from OpenAPI v3 to v2. */
export function schemaToV2(schema: JsonObject): JsonObject {
  const known = stringForm(schema);
  if (known !== undefined) return known;
  const inherited = referenceOf(schema);
  const result: JsonObject = inherited === undefined ? {} : { $ref: DEFINITIONS + inherited };
  const isOpen =
    schema[PRESERVE] === true || schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true;
  for (const key of Object.keys(schema)) {
    if (key === '$ref' || LEFT_OUT.has(key)) continue;
    // No constraints that old clients would apply to a member that may be anything.
    if (isOpen && (key === 'type' || key === 'required' || key === 'additionalProperties')) continue;
    const value = schema[key]!;
    setMember(result, key, key === 'additionalProperties' && isObject(value) ? schemaToV2(value) : value);
  }
  const { properties, items } = schema;
  if (isObject(properties) && !isOpen) {
    result['properties'] = mapMembers(properties, (each) => (isObject(each) ? schemaToV2(each) : each));
  }
  if (isObject(items) && !isOpen) result['items'] = schemaToV2(items);
  return result;
}

/** Converts a whole type. One that preserves unknown fields is not described, as upstream. */
export function definitionToV2(schema: JsonObject): JsonObject {
  const kinds = member(schema, 'x-kubernetes-group-version-kind');
  if (schema[PRESERVE] !== true) return schemaToV2(schema);
  return { type: 'object', ...(kinds === undefined ? {} : { 'x-kubernetes-group-version-kind': kinds }) };
}

function stringForm({ oneOf, format }: JsonObject): JsonObject | undefined {
  if (!Array.isArray(oneOf)) return undefined;
  if (format === 'int-or-string') return { type: 'string', format };
  const types = oneOf.map((each) => (isObject(each) && Object.keys(each).length === 1 ? each['type'] : undefined));
  return types[0] === 'string' && types[1] === 'number' ? { type: 'string' } : undefined;
}

function referenceOf(schema: JsonObject): string | undefined {
  const { allOf } = schema;
  const holder = Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) ? allOf[0] : schema;
  const reference = holder['$ref'];
  return typeof reference === 'string' && reference.startsWith(COMPONENTS)
    ? reference.slice(COMPONENTS.length)
    : undefined;
}

/** Converts a path from v3 to v2: bodies are parameters, media types are in the operation. */
export function pathToV2(item: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const method of METHODS) {
    const operation = item[method];
    if (isObject(operation)) result[method] = operationToV2(operation);
  }
  if (Array.isArray(item['parameters'])) result['parameters'] = parametersToV2(item['parameters']);
  return result;
}

function operationToV2(operation: JsonObject): JsonObject {
  const { parameters, requestBody, responses, tags, operationId, ...extensions } = operation;
  const { consumes, body } = bodyToV2(requestBody);
  const all = [...body, ...(Array.isArray(parameters) ? parametersToV2(parameters) : [])];
  const answers = responses as JsonObject;
  return {
    consumes,
    produces: producesOf(answers),
    schemes: ['https'],
    tags: tags ?? [],
    operationId: operationId ?? '',
    ...(all.length > 0 ? { parameters: all } : {}),
    responses: mapMembers(answers, responseToV2),
    ...extensions,
  };
}

function bodyToV2(requestBody: Json | undefined): { consumes: string[]; body: JsonObject[] } {
  if (!isObject(requestBody)) return { consumes: ['*/*'], body: [] };
  const content = requestBody['content'] as JsonObject;
  const [first] = Object.values(content) as JsonObject[];
  const schema = schemaToV2(first!['schema'] as JsonObject);
  const required = requestBody['required'] === true ? { required: true } : {};
  return { consumes: Object.keys(content), body: [{ name: 'body', in: 'body', ...required, schema }] };
}

function parametersToV2(parameters: readonly Json[]): JsonObject[] {
  return parameters.filter(isObject).map(({ schema, ...rest }) => ({ ...(schema as JsonObject), ...rest }));
}

function producesOf(answers: JsonObject): string[] {
  const ok = answers['200'] as JsonObject | undefined;
  return isObject(ok?.['content']) ? Object.keys(ok['content']) : ['application/json'];
}

function responseToV2(answer: Json): JsonObject {
  const { description, content } = answer as JsonObject;
  const [first] = isObject(content) ? (Object.values(content) as JsonObject[]) : [];
  const schema = first === undefined ? {} : { schema: schemaToV2(first['schema'] as JsonObject) };
  return { description: description ?? '', ...schema };
}

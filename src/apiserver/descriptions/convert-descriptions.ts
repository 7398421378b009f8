import { isObject, type Json, type JsonObject, member, objectMember, setMember } from '../../kube/json.js';
import type { ServerDocuments } from '../surfaces/convert-surface.js';
import {
  DESCRIPTIONS_FORMAT,
  type DescriptionsFile,
  PATCH_SCOPE,
  parameterName,
  type Texts,
  type TypeTexts,
} from './descriptions-file.js';

/** Members whose text is the same for nearly all kinds. */
const OF_ALL_KINDS = ['apiVersion', 'kind', 'metadata'];

/** A pure conversion of what a running server answered: the same documents make the same file. */
export function convertDescriptions({ gitVersion, version, openApi }: ServerDocuments): DescriptionsFile {
  const types = sortedByName(typesIn(openApi));
  const kinds = Object.entries(types).filter(([, { fields = {} }]) => OF_ALL_KINDS.every((name) => name in fields));
  const commonIn = (of: typeof kinds): Texts =>
    Object.fromEntries(
      OF_ALL_KINDS.flatMap((name) => {
        const text = mostFrequent(of.map(([, { fields }]) => fields![name]!));
        return text === undefined ? [] : [[name, text]];
      }),
    );
  return {
    descriptionsFormat: DESCRIPTIONS_FORMAT,
    capturedFrom: gitVersion,
    version,
    objects: commonIn(kinds.filter(([name]) => !name.endsWith('List'))),
    lists: commonIn(kinds.filter(([name]) => name.endsWith('List'))),
    parameters: sortedByName(parametersIn(openApi)),
    types,
  };
}

/** One type a line, so that a difference between two versions can be read. */
export function writeDescriptions({ types, ...head }: DescriptionsFile): string {
  const lines = Object.entries(types).map(([name, texts]) => `${JSON.stringify(name)}:${JSON.stringify(texts)}`);
  return `${JSON.stringify(head).slice(0, -1)},\n"types":{\n${lines.join(',\n')}\n}}\n`;
}

function typesIn(documents: readonly JsonObject[]): Record<string, TypeTexts> {
  const types = new Map<string, TypeTexts>();
  for (const document of documents) {
    for (const [name, schema] of Object.entries(objectMember(objectMember(document, 'components'), 'schemas'))) {
      const texts = isObject(schema) ? textsOf(schema) : {};
      if (!types.has(name) && Object.keys(texts).length > 0) types.set(name, texts);
    }
  }
  return Object.fromEntries(types);
}

function textsOf(schema: JsonObject): TypeTexts {
  const text = textIn(schema);
  const fields: JsonObject = {};
  for (const [name, field] of Object.entries(objectMember(schema, 'properties'))) {
    const ofField = isObject(field) ? textIn(field) : undefined;
    if (ofField !== undefined) setMember(fields, name, ofField);
  }
  return {
    ...(text === undefined ? {} : { text }),
    ...(Object.keys(fields).length === 0 ? {} : { fields: fields as Texts }),
  };
}

/** The most frequent text of each name, and those of single kinds or of patches that differ from it. */
function parametersIn(documents: readonly JsonObject[]): Record<string, string> {
  const byName = new Map<string, Map<string, string>>();
  for (const document of documents) {
    for (const item of Object.values(objectMember(document, 'paths'))) {
      if (!isObject(item)) continue;
      for (const [scope, parameter] of parametersOf(item)) {
        const [name, text] = [parameterName(parameter), textIn(parameter)];
        if (text === undefined) continue;
        const byScope = byName.get(name) ?? new Map<string, string>();
        byName.set(name, byScope);
        if (!byScope.has(scope)) byScope.set(scope, text);
      }
    }
  }
  const parameters = [...byName].flatMap(([name, byScope]) => {
    const common = mostFrequent([...byScope.values()])!;
    const differing = [...byScope].filter(([, text]) => text !== common);
    return [[name, common] as const, ...differing.map(([scope, text]) => [`${scope}.${name}`, text] as const)];
  });
  return Object.fromEntries(parameters);
}

/** Parameters of a path and of its operations, each with what its text may depend on: the kind, or that it is a patch. */
function parametersOf(item: JsonObject): [scope: string, parameter: JsonObject][] {
  const operations = Object.values(item).filter(isObject);
  const kindOf = (operation: JsonObject): string =>
    String(objectMember(operation, 'x-kubernetes-group-version-kind')['kind'] ?? '');
  const scopeOf = (operation: JsonObject): string =>
    operation['x-kubernetes-action'] === PATCH_SCOPE ? PATCH_SCOPE : kindOf(operation);
  const listed = (holder: JsonObject, scope: string): [string, JsonObject][] =>
    listOf(member(holder, 'parameters'))
      .filter(isObject)
      .map((each) => [scope, each]);
  return [
    ...listed(item, kindOf(operations[0] ?? {})),
    ...operations.flatMap((operation) => listed(operation, scopeOf(operation))),
  ];
}

function mostFrequent(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, left], [, right]) => right - left)[0]?.[0];
}

function textIn(schema: JsonObject): string | undefined {
  const text = member(schema, 'description');
  return typeof text === 'string' && text !== '' ? text : undefined;
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function sortedByName<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([left], [right]) => (left < right ? -1 : 1)));
}

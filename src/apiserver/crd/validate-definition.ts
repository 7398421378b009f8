import { type Json, type JsonObject, jsonEqual } from '../../kube/json.js';
import type { GroupResource } from '../contracts/object-reader.js';
import { customResourceSchema } from '../schema/custom-resource-schema.js';
import {
  type FieldProblem,
  forbidden,
  invalid,
  invalidText,
  notSupported,
  required,
} from '../schema/field-problems.js';
import { patternProblem } from '../schema/go-pattern.js';
import { goJson } from '../schema/go-values.js';
import { ANY, type Schema } from '../schema/schema.js';
import { dns1035LabelProblems, dnsSubdomainProblems } from '../values/object-meta.js';
import { approvalProblems } from './approval.js';
import { conversionProblems, hasInvalidCaBundle } from './conversion-rules.js';
import { defaultProblemSteps, type RuleProblems } from './default-rules.js';
import {
  acceptedNamesOf,
  type Definition,
  type DefinitionNames,
  type DefinitionVersion,
  isConditionTrue,
  objectIn,
  readDefinition,
  type SharedParts,
  sharedParts,
  textIn,
} from './definition.js';
import { schemaRuleProblems } from './schema-rules.js';
import { saidMembers, shownSchema, shownVersions } from './shown-definition.js';
import { structuralProblems, unsupportedText } from './structural.js';
import { sizeProblem, visitSchemas } from './sub-schemas.js';
import {
  columnProblems,
  deprecationProblems,
  SELECTABLE_FIELDS_MAX,
  selectableFieldProblems,
  subresourceProblems,
} from './version-rules.js';

export interface DefinitionOptions {
  /** Compiles the CEL rules of a schema. Fields of problems are relative to it, empty for the schema itself. */
  readonly compileRules?: (
    schema: Schema,
    options: { readonly path: string },
  ) => readonly FieldProblem[] | Generator<void, FieldProblem[]>;
  /** Validates defaults by CEL rules. */
  readonly ruleProblems?: RuleProblems;
  /** The built-in type of `metadata`, for rules that look at it. */
  readonly objectMeta?: Schema;
  /** Returns where a resource is built in, such as `Kubernetes` or a server of the control plane. */
  readonly builtInAt?: (what: GroupResource) => string | undefined;
}

interface Checks extends DefinitionOptions {
  readonly live: Definition | undefined;
  readonly allowsInvalidCaBundle: boolean;
}

type ProblemSteps = Generator<void, FieldProblem[]>;

/**
 * Validates a new CustomResourceDefinition that has its defaults, with the fields and messages of
 * kube-apiserver. The syntax of its name is checked elsewhere. Yields between passes over a schema.
 */
export function* definitionProblemSteps(crd: JsonObject, options: DefinitionOptions): ProblemSteps {
  const definition = readDefinition(crd);
  const { name, names, group } = definition;
  return [
    ...(name === `${names.plural}.${group}`
      ? []
      : [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]),
    ...(yield* definitionProblems(crd, definition, { ...options, live: undefined, allowsInvalidCaBundle: true })),
    ...builtInProblems(definition, options),
    ...approvalProblems(crd, group, undefined),
    ...preservationProblems(definition, undefined),
  ];
}

/** kube-apiserver accepts such names because it stores built-in objects elsewhere (ADR 0007). */
function builtInProblems({ group, names: { plural } }: Definition, { builtInAt }: DefinitionOptions): FieldProblem[] {
  const place = builtInAt?.({ group, resource: plural });
  if (place === undefined) return [];
  const detail = `is built in to ${place} in group ${JSON.stringify(group)}; choose another group or plural name`;
  return [invalid('spec.names.plural', plural, detail)];
}

export function* definitionUpdateProblemSteps(
  crd: JsonObject,
  live: JsonObject,
  options: DefinitionOptions,
): ProblemSteps {
  const [definition, before] = [readDefinition(crd), readDefinition(live)];
  const isEstablished = isConditionTrue(live, 'Established');
  const allowsInvalidCaBundle = !isEstablished || hasInvalidCaBundle(before.conversion);
  return [
    ...(yield* definitionProblems(crd, definition, { ...options, live: before, allowsInvalidCaBundle })),
    ...(isEstablished ? immutable('spec.scope', definition.scope, before.scope) : []),
    ...(isEstablished ? immutable('spec.names.kind', definition.names.kind, before.names.kind) : []),
    ...immutable('spec.group', definition.group, before.group),
    ...immutable('spec.names.plural', definition.names.plural, before.names.plural),
    ...approvalProblems(crd, definition.group, live),
    ...preservationProblems(definition, before),
  ];
}

/** Validates a write to the status alone. */
export function validateDefinitionStatus(crd: JsonObject): FieldProblem[] {
  return nameFormatProblems(acceptedNamesOf(crd), 'status.acceptedNames');
}

function immutable(field: string, value: string, before: string): FieldProblem[] {
  return value === before ? [] : [invalid(field, value, 'field is immutable')];
}

/** `spec.preserveUnknownFields` is deprecated and excludes defaults and conversion. */
function preservationProblems(definition: Definition, live: Definition | undefined): FieldProblem[] {
  if (!definition.preservesUnknownFields) return [];
  const field = 'spec.preserveUnknownFields';
  const strategy = textIn(definition.conversion ?? {}, 'strategy');
  const instead = 'set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [
    ...(definition.versions.some(hasDefaults)
      ? [invalid(field, true, 'must be false in order to use defaults in the schema')]
      : []),
    ...(definition.conversion !== undefined && strategy !== 'None'
      ? [invalid('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true')]
      : []),
    ...(live?.preservesUnknownFields === true ? [] : [invalid(field, true, `cannot set to true, ${instead}`)]),
  ];
}

function hasDefaults({ openApi }: DefinitionVersion): boolean {
  let found = false;
  if (openApi === undefined) return found;
  visitSchemas(openApi, (each) => {
    found ||= (each['default'] ?? null) !== null;
  });
  return found;
}

function* definitionProblems(crd: JsonObject, definition: Definition, checks: Checks): ProblemSteps {
  const { versions, names } = definition;
  const tooBig = versions.flatMap(sizeProblems);
  // No other check may walk a schema that is too deep.
  if (tooBig.length > 0) return tooBig;
  yield;
  const shared = sharedParts(versions);
  yield;
  const ofVersions: FieldProblem[] = [];
  for (const [index, version] of versions.entries()) {
    ofVersions.push(...(yield* versionProblems(version, index, shared, checks)));
    yield;
  }
  return [
    ...groupProblems(definition.group),
    ...scopeProblems(definition.scope),
    ...missingSchemaProblems(versions),
    ...ofVersions,
    ...versionListProblems(versions, shared),
    ...requiredNameProblems(names),
    ...nameFormatProblems(names, 'spec.names'),
    ...(yield* sharedPartProblems(versions, shared, checks)),
    ...conversionProblems(definition.conversion, checks),
    ...validateDefinitionStatus(crd),
    ...storedVersionProblems(definition),
  ];
}

function sizeProblems({ openApi }: DefinitionVersion, index: number): FieldProblem[] {
  const problem = openApi === undefined ? undefined : sizeProblem(openApi);
  return problem === undefined ? [] : [invalid(`spec.versions[${index}].schema.openAPIV3Schema`, '', problem)];
}

function groupProblems(group: string): FieldProblem[] {
  if (group === '') return [required('spec.group')];
  const texts = dnsSubdomainProblems(group);
  if (texts.length > 0) return [invalid('spec.group', group, texts.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function scopeProblems(scope: string): FieldProblem[] {
  if (scope === '') return [required('spec.scope')];
  const known = ['Cluster', 'Namespaced'];
  return known.includes(scope) ? [] : [notSupported('spec.scope', scope, known)];
}

function missingSchemaProblems(versions: readonly DefinitionVersion[]): FieldProblem[] {
  return versions.flatMap(({ openApi }, index) =>
    openApi === undefined ? [required(`spec.versions[${index}].schema.openAPIV3Schema`)] : [],
  );
}

function* versionProblems(
  version: DefinitionVersion,
  index: number,
  shared: SharedParts,
  checks: Checks,
): ProblemSteps {
  const field = `spec.versions[${index}]`;
  return [
    ...labelProblems(version.name, `${field}.name`),
    ...deprecationProblems(version, `${field}.deprecationWarning`),
    ...(shared.validation ? [] : yield* schemaProblems(version, `${field}.schema`, checks)),
    ...(shared.subresources ? [] : subresourceProblems(version.subresources, `${field}.subresources`)),
    ...(shared.columns ? [] : columnProblems(version.columns, `${field}.additionalPrinterColumns`)),
    ...(shared.selectablePaths ? [] : selectableProblems(version, `${field}.selectableFields`, checks)),
  ];
}

/** Validates the parts that are equal in all versions, once. */
function* sharedPartProblems(
  versions: readonly DefinitionVersion[],
  shared: SharedParts,
  checks: Checks,
): ProblemSteps {
  const [first] = versions;
  if (first === undefined) return [];
  const withStatus = versions.find(({ subresources }) => hasStatus(subresources)) ?? first;
  return [
    ...labelProblems(first.name, 'spec.version'),
    ...(shared.validation
      ? yield* schemaProblems({ ...first, subresources: withStatus.subresources }, 'spec.validation', checks)
      : []),
    ...(shared.subresources ? subresourceProblems(first.subresources, 'spec.subresources') : []),
    ...(shared.columns ? columnProblems(first.columns, 'spec.additionalPrinterColumns') : []),
    ...(shared.selectablePaths ? selectableProblems(first, 'spec.selectableFields', checks) : []),
  ];
}

function selectableProblems(version: DefinitionVersion, field: string, { live }: Checks): FieldProblem[] {
  const { selectablePaths, openApi } = version;
  if (selectablePaths.length === 0 || openApi === undefined) return [];
  const before = live?.versions.find(({ name }) => name === version.name)?.selectablePaths ?? [];
  const allowsTooMany = before.length > SELECTABLE_FIELDS_MAX && jsonEqual([...before], [...selectablePaths]);
  return selectableFieldProblems(selectablePaths, openApi, field, allowsTooMany);
}

function versionListProblems(versions: readonly DefinitionVersion[], shared: SharedParts): FieldProblem[] {
  const names = new Set(versions.map(({ name }) => name));
  const storageCount = versions.filter(({ isStorage }) => isStorage).length;
  const say = (text: string): FieldProblem => invalidText('spec.versions', shownVersions(versions, shared), text);
  return [
    ...(names.size < versions.length ? [say('must contain unique version names')] : []),
    ...(storageCount === 1 ? [] : [say('must have exactly one version marked as storage version')]),
  ];
}

function requiredNameProblems(names: DefinitionNames): FieldProblem[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((name) => names[name] === '')
    .map((name) => required(`spec.names.${name}`));
}

function nameFormatProblems(names: DefinitionNames, field: string): FieldProblem[] {
  const { kind, listKind, shortNames, categories } = names;
  const resources = (['plural', 'singular'] as const).filter((name) => names[name] !== '');
  const kinds = (['kind', 'listKind'] as const).filter((name) => names[name] !== '');
  return [
    ...resources.flatMap((name) => labelProblems(names[name], `${field}.${name}`)),
    ...kinds.flatMap((name) => {
      const texts = dns1035LabelProblems(names[name].toLowerCase());
      const detail = `may have mixed case, but should otherwise match: ${texts.join(',')}`;
      return texts.length === 0 ? [] : [invalid(`${field}.${name}`, names[name], detail)];
    }),
    ...shortNames.flatMap((each, index) => labelProblems(each, `${field}.shortNames[${index}]`)),
    ...(kind !== '' && kind === listKind
      ? [invalid(`${field}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...categories.flatMap((each, index) => labelProblems(each, `${field}.categories[${index}]`)),
  ];
}

function labelProblems(value: string, field: string): FieldProblem[] {
  const texts = dns1035LabelProblems(value);
  return texts.length === 0 ? [] : [invalid(field, value, texts.join(','))];
}

function storedVersionProblems({ storedVersions, versions }: Definition): FieldProblem[] {
  const field = 'status.storedVersions';
  if (storedVersions.length === 0) return [invalidText(field, 'null', 'must have at least one stored version')];
  const shown = goJson([...storedVersions] as Json);
  const missing = versions.filter(({ name, isStorage }) => isStorage && !storedVersions.includes(name));
  const gone = storedVersions.flatMap((name, index) =>
    versions.some((each) => each.name === name) ? [] : [{ name, index }],
  );
  return [
    ...missing.map(({ name }) => invalidText(field, shown, `must have the storage version ${name}`)),
    ...gone.map(({ name, index }) => {
      const until = `until a storage migration ensures no data remains persisted in ${name} and removes ${name} from ${field}`;
      const was = `missing from spec.versions; ${name} was previously a storage version`;
      return invalid(`${field}[${index}]`, name, `${was}, and must remain in spec.versions ${until}`);
    }),
  ];
}

const ALLOWED_BESIDE_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'.split(
    ' ',
  );

function hasStatus(subresources: JsonObject | undefined): boolean {
  return subresources !== undefined && objectIn(subresources, 'status') !== undefined;
}

function* schemaProblems(version: DefinitionVersion, field: string, checks: Checks): ProblemSteps {
  const { openApi } = version;
  if (openApi === undefined) return [];
  const path = `${field}.openAPIV3Schema`;
  const problems = hasStatus(version.subresources) ? statusRootProblems(openApi, path) : [];
  const before = checks.live?.versions.find(({ name }) => name === version.name)?.openApi;
  // An unchanged schema is not validated again.
  if (jsonEqual(before, openApi)) return problems;
  if (openApi['nullable'] === true) problems.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  yield;
  yield* compilePatterns(openApi);
  const unsupported = firstUnsupported(openApi);
  yield;
  const structural = unsupported === undefined ? structuralProblems(openApi, path) : [];
  const isStructural = unsupported === undefined && structural.length === 0;
  yield;
  const defaults = isStructural ? yield* defaultProblemSteps(openApi, path, checks.ruleProblems) : [];
  yield;
  problems.push(...structural, ...defaults, ...schemaRuleProblems(openApi, path));
  yield;
  if (problems.length === 0 && unsupported !== undefined) return [invalid(path, '', unsupported)];
  return problems.length > 0 ? problems : yield* compileProblems(openApi, path, checks);
}

/** Compiles the patterns one at a time, because one can take milliseconds. `patternProblem` keeps the results. */
function* compilePatterns(openApi: JsonObject): Generator<void, void> {
  const patterns = new Set<string>();
  visitSchemas(openApi, ({ pattern }) => {
    if (typeof pattern === 'string' && pattern !== '') patterns.add(pattern);
  });
  for (const pattern of patterns) {
    patternProblem(pattern);
    yield;
  }
}

function* compileProblems(openApi: JsonObject, path: string, { compileRules, objectMeta }: Checks): ProblemSteps {
  if (compileRules === undefined) return [];
  const schema = customResourceSchema(openApi, objectMeta ?? ANY);
  yield;
  const found = compileRules(schema, { path });
  const problems = 'next' in found ? yield* found : found;
  return problems.map((each) => ({ ...each, field: each.field === '' ? path : `${path}.${each.field}` }));
}

function firstUnsupported(openApi: JsonObject): string | undefined {
  let found: string | undefined;
  visitSchemas(openApi, (each) => {
    found ??= unsupportedText(each);
  });
  return found;
}

/** A status is validated by a part of the schema: the root may not have rules that this part would lose. */
function statusRootProblems(openApi: JsonObject, path: string): FieldProblem[] {
  for (const name of saidMembers(openApi)) {
    if (name === 'Type' && openApi['type'] !== 'object') {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return [invalid(`${path}.type`, openApi['type'] ?? '', detail)];
    }
    if (!ALLOWED_BESIDE_STATUS.includes(name)) {
      const allowed = `[${ALLOWED_BESIDE_STATUS.join(' ')}]`;
      const detail = `only ${allowed} fields are allowed at the root of the schema if the status subresource is enabled`;
      return [invalidText(path, shownSchema(openApi), detail)];
    }
  }
  return [];
}

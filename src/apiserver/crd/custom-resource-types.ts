import { groupVersion } from '../../kube/gvr.js';
import type { JsonObject } from '../../kube/json.js';
import { compareApiVersions } from '../../kube/kube-version.js';
import type { Conversion, ResourceType, ScalePaths, Subresource } from '../registry/resource-type.js';
import { customResourcePrefix } from '../registry/storage-layout.js';
import { customResourceSchema } from '../schema/custom-resource-schema.js';
import type { Schema } from '../schema/schema.js';
import { selectableFieldsOfCustomResource } from '../select/field-selector-kinds.js';
import { customPrinter, JsonPathError, type PrinterColumn } from '../table/custom-printer.js';
import type { TablePrinter } from '../table/table.js';
import { type ConversionDependencies, trivialConversion, webhookConversion } from './conversion.js';
import { customResourceStrategy } from './custom-resource-strategy.js';
import type { RuleProblemSteps } from './default-rules.js';
import {
  acceptedNamesOf,
  type Definition,
  type DefinitionNames,
  type DefinitionVersion,
  isConditionTrue,
  objectIn,
  readDefinition,
  textIn,
} from './definition.js';

export interface CustomResourceDependencies extends ConversionDependencies {
  /** The built-in type of `metadata`. */
  readonly objectMeta: Schema;
  readonly ruleProblems?: RuleProblemSteps;
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const PART_VERBS = ['get', 'patch', 'update'];

/**
 * Returns a type for each served version of a definition, with its accepted names. Throws SchemaError
 * for a schema that was never validated, and ReservedPrefixError for the name of a built-in resource. A
 * definition that is being deleted refuses new objects only, so that finalizers can still be removed.
 */
export function customResourceTypes(crd: JsonObject, dependencies: CustomResourceDependencies): ResourceType[] {
  const definition = readDefinition(crd);
  // Clients may write the status. The plural name selects the stored objects: that of the spec is immutable.
  const names = { ...acceptedNamesOf(crd), plural: definition.names.plural };
  const isTerminating = isConditionTrue(crd, 'Terminating');
  const place = { definition, names, isTerminating, dependencies };
  return definition.versions.filter(({ isServed }) => isServed).map((version) => typeOf(version, place));
}

interface Place {
  readonly definition: Definition;
  readonly names: DefinitionNames;
  readonly isTerminating: boolean;
  readonly dependencies: CustomResourceDependencies;
}

function typeOf(version: DefinitionVersion, place: Place): ResourceType {
  const { definition, names, dependencies, isTerminating } = place;
  const { group } = definition;
  const schema = schemaOf(definition, version, dependencies.objectMeta);
  const scalePaths = scalePathsOf(version);
  const hasStatus = objectIn(version.subresources ?? {}, 'status') !== undefined;
  const verbs = new Set(PART_VERBS);
  const subresources: Subresource[] = [];
  if (hasStatus) {
    subresources.push({ name: 'status', kind: names.kind, kindGroup: group, kindVersion: version.name, verbs });
  }
  if (scalePaths !== undefined) {
    subresources.push({ name: 'scale', kind: 'Scale', kindGroup: 'autoscaling', kindVersion: 'v1', verbs, scalePaths });
  }
  const namespaced = definition.scope === 'Namespaced';
  const warning = deprecationWarning(version, definition);
  return {
    group,
    version: version.name,
    resource: names.plural,
    singular: names.singular,
    kind: names.kind,
    listKind: names.listKind,
    namespaced,
    verbs: new Set(VERBS),
    shortNames: names.shortNames,
    categories: names.categories,
    subresources: new Map(subresources.map((each) => [each.name, each])),
    origin: 'custom',
    schema,
    strategy: customResourceStrategy({
      schema,
      hasStatus,
      scalePaths,
      qualifiedResource: `${names.plural}.${group}`,
      isTerminating,
      ruleProblems: dependencies.ruleProblems,
    }),
    printer: printerOf(version),
    selectable: selectableFieldsOfCustomResource(namespaced ? 'Namespaced' : 'Cluster', version.selectablePaths),
    storage: {
      prefix: customResourcePrefix({ group, resource: names.plural }),
      apiVersion: storedApiVersion(definition),
    },
    conversion: conversionOf(version, place),
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
  };
}

function schemaOf(definition: Definition, { openApi }: DefinitionVersion, objectMeta: Schema): Schema {
  const schema = customResourceSchema(openApi ?? { 'x-kubernetes-preserve-unknown-fields': true }, objectMeta);
  return definition.preservesUnknownFields ? { ...schema, preserveUnknownFields: true } : schema;
}

function storedApiVersion({ group, versions }: Definition): string {
  const storage = versions.find(({ isStorage }) => isStorage) ?? versions[0]!;
  return groupVersion(group, storage.name);
}

function conversionOf(version: DefinitionVersion, { definition, dependencies }: Place): Conversion {
  const versions = {
    servedApiVersion: groupVersion(definition.group, version.name),
    storedApiVersion: storedApiVersion(definition),
  };
  const { conversion } = definition;
  if (conversion === undefined || textIn(conversion, 'strategy') !== 'Webhook') return trivialConversion(versions);
  // Objects may still be stored in a former storage version.
  const isEverywhere = definition.versions.length === 1 && definition.storedVersions.length <= 1;
  return isEverywhere ? trivialConversion(versions) : webhookConversion(conversion, versions, dependencies);
}

function scalePathsOf({ subresources }: DefinitionVersion): ScalePaths | undefined {
  const scale = objectIn(subresources ?? {}, 'scale');
  if (scale === undefined) return undefined;
  const pathOf = (name: string): string => textIn(scale, name).replace(/^\./, '');
  return {
    specReplicas: pathOf('specReplicasPath'),
    statusReplicas: pathOf('statusReplicasPath'),
    labelSelector: pathOf('labelSelectorPath') || undefined,
  };
}

/** Columns with an unsupported path are left out: kube-apiserver accepts such definitions. */
function printerOf({ columns }: DefinitionVersion): TablePrinter {
  try {
    return customPrinter(columns as unknown as PrinterColumn[]);
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    return customPrinter();
  }
}

function deprecationWarning(version: DefinitionVersion, { group, names, versions }: Definition): string | undefined {
  if (!version.isDeprecated) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const better = versions
    .filter((each) => each.isServed && !each.isDeprecated && compareApiVersions(each.name, version.name) < 0)
    .map(({ name }) => name)
    .sort(compareApiVersions);
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  return better.length === 0 ? text : `${text}; use ${group}/${better[0]} ${names.kind}`;
}

import { isObject, type Json, type JsonObject, jsonEqual, member, objectMember } from '../../kube/json.js';

/** A parsed CustomResourceDefinition. Members that are missing or of a wrong type are empty. */
export interface Definition {
  readonly name: string;
  readonly group: string;
  readonly scope: string;
  readonly names: DefinitionNames;
  readonly versions: readonly DefinitionVersion[];
  readonly conversion: JsonObject | undefined;
  readonly preservesUnknownFields: boolean;
  readonly storedVersions: readonly string[];
}

export interface DefinitionNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface DefinitionVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStorage: boolean;
  readonly isDeprecated: boolean;
  readonly deprecationWarning: string | undefined;
  /** `schema`, which may lack `openAPIV3Schema`. */
  readonly validation: JsonObject | undefined;
  readonly openApi: JsonObject | undefined;
  readonly subresources: JsonObject | undefined;
  readonly columns: readonly JsonObject[];
  readonly selectablePaths: readonly string[];
}

export function readDefinition(crd: JsonObject): Definition {
  const spec = objectMember(crd, 'spec');
  return {
    name: textIn(objectMember(crd, 'metadata'), 'name'),
    group: textIn(spec, 'group'),
    scope: textIn(spec, 'scope'),
    names: readNames(objectMember(spec, 'names')),
    versions: listIn(spec, 'versions').filter(isObject).map(readVersion),
    conversion: objectIn(spec, 'conversion'),
    preservesUnknownFields: member(spec, 'preserveUnknownFields') === true,
    storedVersions: textsIn(objectMember(crd, 'status'), 'storedVersions'),
  };
}

/** Returns the names in the status, which are those that are served. */
export function acceptedNamesOf(crd: JsonObject): DefinitionNames {
  return readNames(objectMember(objectMember(crd, 'status'), 'acceptedNames'));
}

export function readNames(names: JsonObject): DefinitionNames {
  return {
    plural: textIn(names, 'plural'),
    singular: textIn(names, 'singular'),
    kind: textIn(names, 'kind'),
    listKind: textIn(names, 'listKind'),
    shortNames: textsIn(names, 'shortNames'),
    categories: textsIn(names, 'categories'),
  };
}

function readVersion(version: JsonObject): DefinitionVersion {
  const warning = member(version, 'deprecationWarning');
  const validation = objectIn(version, 'schema');
  return {
    name: textIn(version, 'name'),
    isServed: member(version, 'served') === true,
    isStorage: member(version, 'storage') === true,
    isDeprecated: member(version, 'deprecated') === true,
    deprecationWarning: typeof warning === 'string' ? warning : undefined,
    validation,
    openApi: validation && objectIn(validation, 'openAPIV3Schema'),
    subresources: objectIn(version, 'subresources'),
    columns: listIn(version, 'additionalPrinterColumns').filter(isObject),
    selectablePaths: listIn(version, 'selectableFields').map((each) =>
      isObject(each) ? textIn(each, 'jsonPath') : '',
    ),
  };
}

/** The parts that are equal in all versions: messages name them by the definition, others by their version. */
export interface SharedParts {
  readonly validation: boolean;
  readonly subresources: boolean;
  readonly columns: boolean;
  readonly selectablePaths: boolean;
}

export function sharedParts(versions: readonly DefinitionVersion[]): SharedParts {
  const [first] = versions;
  const isShared = (part: (version: DefinitionVersion) => Json | undefined): boolean =>
    first !== undefined && versions.every((each) => jsonEqual(part(each), part(first)));
  return {
    validation: isShared(({ validation }) => validation),
    subresources: isShared(({ subresources }) => subresources),
    columns: isShared(({ columns }) => [...columns]),
    selectablePaths: isShared(({ selectablePaths }) => [...selectablePaths]),
  };
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export function conditionsOf(crd: JsonObject): JsonObject[] {
  return listIn(objectMember(crd, 'status'), 'conditions').filter(isObject);
}

export function conditionOf(crd: JsonObject, type: string): JsonObject | undefined {
  return conditionsOf(crd).find((each) => each['type'] === type);
}

export function isConditionTrue(crd: JsonObject, type: string): boolean {
  return conditionOf(crd, type)?.['status'] === 'True';
}

export function objectIn(object: JsonObject, name: string): JsonObject | undefined {
  const value = member(object, name);
  return isObject(value) ? value : undefined;
}

export function listIn(object: JsonObject, name: string): readonly Json[] {
  const value = member(object, name);
  return Array.isArray(value) ? value : [];
}

export function textIn(object: JsonObject, name: string): string {
  const value = member(object, name);
  return typeof value === 'string' ? value : '';
}

export function textsIn(object: JsonObject, name: string): string[] {
  return listIn(object, name).filter((each) => typeof each === 'string');
}

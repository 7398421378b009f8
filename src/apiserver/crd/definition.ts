import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../kube/json.js';

/** What is read of a CustomResourceDefinition. Whatever a document leaves out or has of another type is empty here. */
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
  /** `schema`, which may be there without an `openAPIV3Schema`. */
  readonly validation: JsonObject | undefined;
  readonly openApi: JsonObject | undefined;
  readonly subresources: JsonObject | undefined;
  readonly columns: readonly JsonObject[];
  readonly selectablePaths: readonly string[];
}

export function readDefinition(crd: JsonObject): Definition {
  const spec = objectIn(crd, 'spec') ?? {};
  const conversion = objectIn(spec, 'conversion');
  return {
    name: textIn(objectIn(crd, 'metadata') ?? {}, 'name'),
    group: textIn(spec, 'group'),
    scope: textIn(spec, 'scope'),
    names: readNames(objectIn(spec, 'names') ?? {}),
    versions: listIn(spec, 'versions').filter(isObject).map(readVersion),
    conversion,
    preservesUnknownFields: member(spec, 'preserveUnknownFields') === true,
    storedVersions: textsIn(objectIn(crd, 'status') ?? {}, 'storedVersions'),
  };
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
    openApi: validation === undefined ? undefined : objectIn(validation, 'openAPIV3Schema'),
    subresources: objectIn(version, 'subresources'),
    columns: listIn(version, 'additionalPrinterColumns').filter(isObject),
    selectablePaths: listIn(version, 'selectableFields').map((each) =>
      isObject(each) ? textIn(each, 'jsonPath') : '',
    ),
  };
}

/** What all versions have the same of: kube-apiserver names such parts by the definition, others by their version. */
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

export function conditionOf(crd: JsonObject, type: string): JsonObject | undefined {
  const conditions = listIn(objectIn(crd, 'status') ?? {}, 'conditions').filter(isObject);
  return conditions.find((each) => each['type'] === type);
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

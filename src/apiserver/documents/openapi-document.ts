import { apiPath } from '../../kube/gvr.js';
import type { JsonObject } from '../../kube/json.js';
import type { Descriptions } from '../descriptions/descriptions.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { BuiltInSurface } from '../surfaces/built-in-surface.js';
import { type Discoverable, isCustom, type VersionResources } from './group-discovery.js';
import { customComponents, customTypeName } from './openapi-custom-schema.js';
import { operationPlace, resourcePaths, tagOf } from './openapi-paths.js';
import {
  byName,
  describedType,
  groupVersionKind,
  META,
  reference,
  referencesIn,
  SECURITY,
  typeSchema,
} from './openapi-schema.js';

/** Types of every group-version: a document lists their kind of its group-version. */
const OF_EVERY_GROUP: Readonly<Record<string, string>> = {
  [`${META}DeleteOptions`]: 'DeleteOptions',
  [`${META}WatchEvent`]: 'WatchEvent',
};

/** Sources of types. `customSchema` returns the `openAPIV3Schema` of a custom resource. */
export interface OpenApiSources {
  readonly surface: BuiltInSurface;
  readonly descriptions: Descriptions;
  customSchema(type: ResourceType): JsonObject | undefined;
}

/** Makes OpenAPI v3 of one group-version. Pure. */
export function versionOpenApi(version: VersionResources, sources: OpenApiSources): JsonObject {
  const { surface, descriptions } = sources;
  const custom: Record<string, JsonObject> = {};
  for (const each of version.resources) {
    if (!isCustomType(each)) continue;
    const texts = { object: descriptions.ofCustomObjects(), list: descriptions.ofCustomLists() };
    Object.assign(custom, customComponents(each, sources.customSchema(each), texts));
  }
  const typeName = (group: string, version: string, kind: string): string | undefined => {
    const customName = customTypeName({ group, version, kind: '', listKind: '' }, kind);
    return Object.hasOwn(custom, customName) ? customName : surface.kind(group, version, kind)?.typeName;
  };
  const hasBuiltIn = version.resources.some((each) => !isCustom(each));
  const paths: JsonObject = hasBuiltIn ? resourceListPath(version) : {};
  const parameterText = descriptions.ofParameter;
  for (const each of version.resources) Object.assign(paths, resourcePaths(each, { typeName, parameterText }));
  return documentOf(sources, byName(Object.entries(paths)), {
    custom,
    kindOf: (kind) => groupVersionKind(version.group, version.version, kind),
  });
}

/** Makes OpenAPI v3 of a path about the server itself: `/api/`, `/apis/apps/`, `/version/`. */
export function pathOpenApi(path: string, sources: TypeSources): JsonObject {
  const [first = '', group] = path.split('/').filter((word) => word !== '');
  const typeName =
    first === 'version'
      ? 'io.k8s.apimachinery.pkg.version.Info'
      : `${META}${first === 'api' ? 'APIVersions' : group === undefined ? 'APIGroupList' : 'APIGroup'}`;
  const tag = first === 'api' ? 'core' : group === undefined ? first : tagOf(group, '').replace(/_$/, '');
  const operationId = { api: 'getCoreAPIVersions', apis: 'getAPIVersions', version: 'getCodeVersion' }[first];
  const named = group === undefined ? operationId : `get${operationPlace(group, '')}APIGroup`;
  return documentOf(sources, { [path]: { get: readOperation(tag, named!, typeName) } });
}

function resourceListPath({ group, version }: VersionResources): JsonObject {
  const operationId = `get${operationPlace(group, version)}APIResources`;
  const get = readOperation(tagOf(group, version), operationId, `${META}APIResourceList`);
  return { [`${apiPath(group, version)}/`]: { get } };
}

function readOperation(tag: string, operationId: string, typeName: string): JsonObject {
  const content = { 'application/json': { schema: reference(typeName) } };
  const responses = { '200': { description: 'OK', content }, '401': { description: 'Unauthorized' } };
  return { tags: [tag], operationId, responses };
}

interface Extras {
  readonly custom: Readonly<Record<string, JsonObject>>;
  kindOf(kind: string): JsonObject;
}

type TypeSources = Pick<OpenApiSources, 'surface' | 'descriptions'>;

function documentOf(sources: TypeSources, paths: JsonObject, extras?: Extras): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: sources.surface.version },
    paths,
    components: { schemas: schemasFor(paths, sources, extras), securitySchemes: SECURITY },
  };
}

/** Returns the types to which paths refer, directly or through other types. */
function schemasFor(paths: JsonObject, sources: TypeSources, extras?: Extras): JsonObject {
  const { types } = sources.surface;
  const schemas: JsonObject = {};
  const waiting = [...referencesIn(paths)];
  const seen = new Set(waiting);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const custom = extras && Object.hasOwn(extras.custom, name) ? extras.custom[name] : undefined;
    if (custom === undefined && !Object.hasOwn(types, name)) continue;
    const kind = OF_EVERY_GROUP[name];
    const schema = custom ?? builtInType(name, sources);
    schemas[name] = kind && extras ? { ...schema, 'x-kubernetes-group-version-kind': [extras.kindOf(kind)] } : schema;
    for (const found of referencesIn(schema)) {
      if (seen.has(found)) continue;
      seen.add(found);
      waiting.push(found);
    }
  }
  return byName(Object.entries(schemas));
}

function builtInType(name: string, { surface, descriptions }: TypeSources): JsonObject {
  const schema = typeSchema(surface.types[name]!);
  return describedType(schema, descriptions.ofType(name, schema['x-kubernetes-group-version-kind'] !== undefined));
}

function isCustomType(each: Discoverable): each is ResourceType {
  return isCustom(each);
}

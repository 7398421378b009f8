import type { JsonObject } from '../../kube/json.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { BuiltInSurface } from '../surfaces/built-in-surface.js';
import { type Discoverable, isCustom, type VersionResources } from './group-discovery.js';
import { customComponents, customTypeName } from './openapi-custom-schema.js';
import { apiBase, operationPlace, resourcePaths, tagOf } from './openapi-paths.js';
import { groupVersionKind, reference, referencesIn, typeSchema } from './openapi-schema.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
/** Of every group and version, so no surface lists their kinds; a document names those of its own. */
const OF_EVERY_GROUP: Readonly<Record<string, string>> = {
  [`${META}DeleteOptions`]: 'DeleteOptions',
  [`${META}WatchEvent`]: 'WatchEvent',
};
const SECURITY = { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } };

/** Where types come from. `customSchema` gives the `openAPIV3Schema` of a custom resource in its version. */
export interface OpenApiSources {
  readonly surface: BuiltInSurface;
  customSchema(type: ResourceType): JsonObject | undefined;
}

/** OpenAPI v3 of one group's version: a pure function of what it is given. */
export function versionOpenApi(version: VersionResources, sources: OpenApiSources): JsonObject {
  const { surface } = sources;
  const custom: Record<string, JsonObject> = {};
  for (const each of version.resources) {
    if (isCustomType(each)) Object.assign(custom, customComponents(each, sources.customSchema(each)));
  }
  const typeName = (group: string, version: string, kind: string): string | undefined => {
    const own = customTypeName({ group, version, kind: '', listKind: '' }, kind);
    return Object.hasOwn(custom, own) ? own : surface.kind(group, version, kind)?.typeName;
  };
  const hasBuiltIn = version.resources.some((each) => !isCustom(each));
  const paths: JsonObject = hasBuiltIn ? resourceListPath(version) : {};
  for (const each of version.resources) Object.assign(paths, resourcePaths(each, { typeName }));
  return documentOf(surface, byName(paths), {
    custom,
    kindOf: (kind) => groupVersionKind(version.group, version.version, kind),
  });
}

/** OpenAPI v3 of a path that describes the server itself: `/api/`, `/apis/apps/`, `/version/`. */
export function pathOpenApi(path: string, surface: BuiltInSurface): JsonObject {
  const [first = '', group] = path.split('/').filter((word) => word !== '');
  const typeName =
    first === 'version'
      ? 'io.k8s.apimachinery.pkg.version.Info'
      : `${META}${first === 'api' ? 'APIVersions' : group === undefined ? 'APIGroupList' : 'APIGroup'}`;
  const tag = first === 'api' ? 'core' : group === undefined ? first : tagOf(group, '').replace(/_$/, '');
  const operationId = { api: 'getCoreAPIVersions', apis: 'getAPIVersions', version: 'getCodeVersion' }[first];
  const named = group === undefined ? operationId : `get${operationPlace(group, '')}APIGroup`;
  return documentOf(surface, { [path]: { get: readOperation(tag, named!, typeName) } });
}

function resourceListPath({ group, version }: VersionResources): JsonObject {
  const operationId = `get${operationPlace(group, version)}APIResources`;
  const get = readOperation(tagOf(group, version), operationId, `${META}APIResourceList`);
  return { [`${apiBase(group, version)}/`]: { get } };
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

function documentOf(surface: BuiltInSurface, paths: JsonObject, extras?: Extras): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: surface.version },
    paths,
    components: { schemas: schemasFor(paths, surface, extras), securitySchemes: SECURITY },
  };
}

/** The types that paths name, those that these are made of, and so on. */
function schemasFor(paths: JsonObject, { types }: BuiltInSurface, extras?: Extras): JsonObject {
  const schemas: JsonObject = {};
  const waiting = [...referencesIn(paths)];
  const seen = new Set(waiting);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const custom = extras && Object.hasOwn(extras.custom, name) ? extras.custom[name] : undefined;
    if (custom === undefined && !Object.hasOwn(types, name)) continue;
    const kind = OF_EVERY_GROUP[name];
    const schema = custom ?? typeSchema(types[name]!);
    schemas[name] = kind && extras ? { ...schema, 'x-kubernetes-group-version-kind': [extras.kindOf(kind)] } : schema;
    for (const found of referencesIn(schema)) {
      if (seen.has(found)) continue;
      seen.add(found);
      waiting.push(found);
    }
  }
  return byName(schemas);
}

function byName(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function isCustomType(each: Discoverable): each is ResourceType {
  return isCustom(each);
}

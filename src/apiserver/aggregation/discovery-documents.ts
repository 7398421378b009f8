import type { KindReference, ResourceDiscovery, SubresourceDiscovery } from '../../kube/discovery.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';

/** Far above what any API server serves, low enough that a broken one can't fill the memory of this one. */
export const REMOTE_DISCOVERY_BOUNDS = { groupsMax: 500, versionsMax: 50, resourcesMax: 5_000, listMax: 200 } as const;

/** The resources of each group-version in an aggregated document (v2 or v2beta1), by `group/version`. */
export function readAggregatedDocument(document: Json): Map<string, ResourceDiscovery[]> | undefined {
  if (!isObject(document) || document['kind'] !== 'APIGroupDiscoveryList') return undefined;
  if (!/^apidiscovery\.k8s\.io\/v2(beta1)?$/.test(text(document['apiVersion']))) return undefined;
  const found = new Map<string, ResourceDiscovery[]>();
  for (const group of objects(document['items'], REMOTE_DISCOVERY_BOUNDS.groupsMax)) {
    const name = isObject(group['metadata']) ? text(group['metadata']['name']) : '';
    for (const version of objects(group['versions'], REMOTE_DISCOVERY_BOUNDS.versionsMax)) {
      const resources = objects(version['resources'], REMOTE_DISCOVERY_BOUNDS.resourcesMax).flatMap(readResource);
      found.set(`${name}/${text(version['version'])}`, resources);
    }
  }
  return found;
}

function readResource(item: JsonObject): ResourceDiscovery[] {
  const resource = text(item['resource']);
  if (!isSegment(resource)) return [];
  const subresources = objects(item['subresources'], REMOTE_DISCOVERY_BOUNDS.listMax).flatMap(readSubresource);
  return [
    {
      resource,
      responseKind: readKind(item['responseKind']),
      scope: item['scope'] === 'Namespaced' ? 'Namespaced' : 'Cluster',
      singularResource: text(item['singularResource']),
      verbs: texts(item['verbs']),
      ...listed('shortNames', item['shortNames']),
      ...listed('categories', item['categories']),
      ...(subresources.length > 0 ? { subresources } : {}),
    },
  ];
}

function readSubresource(item: JsonObject): SubresourceDiscovery[] {
  const subresource = text(item['subresource']);
  if (subresource === '') return [];
  const acceptedTypes = objects(item['acceptedTypes'], REMOTE_DISCOVERY_BOUNDS.listMax).map(readKind);
  return [
    {
      subresource,
      responseKind: readKind(item['responseKind']),
      ...(acceptedTypes.length > 0 ? { acceptedTypes } : {}),
      verbs: texts(item['verbs']),
    },
  ];
}

/** The resources of a legacy list, where `pods/status` stands beside `pods`. */
export function readLegacyDocument(document: Json): ResourceDiscovery[] | undefined {
  if (!isObject(document) || document['kind'] !== 'APIResourceList') return undefined;
  const entries = objects(document['resources'], REMOTE_DISCOVERY_BOUNDS.resourcesMax);
  const resources = new Map<string, ResourceDiscovery>();
  for (const entry of entries) {
    const name = text(entry['name']);
    if (isSegment(name) && !resources.has(name)) resources.set(name, legacyResource(entry, name));
  }
  for (const entry of entries) {
    const [parent, ...rest] = text(entry['name']).split('/');
    if (rest.length === 0 || !isSegment(parent!)) continue;
    const whole = resources.get(parent!) ?? {
      resource: parent!,
      responseKind: { group: '', version: '', kind: '' },
      verbs: [],
    };
    const subresource = {
      subresource: rest.join('/'),
      responseKind: legacyKind(entry),
      verbs: texts(entry['verbs']),
    };
    resources.set(parent!, { ...whole, subresources: [...(whole.subresources ?? []), subresource] });
  }
  return [...resources.values()];
}

function legacyResource(entry: JsonObject, resource: string): ResourceDiscovery {
  return {
    resource,
    responseKind: legacyKind(entry),
    scope: entry['namespaced'] === true ? 'Namespaced' : 'Cluster',
    singularResource: text(entry['singularName']),
    verbs: texts(entry['verbs']),
    ...listed('shortNames', entry['shortNames']),
    ...listed('categories', entry['categories']),
  };
}

/** Where the list says neither group nor version, those of the list itself are meant, and left out as there. */
function legacyKind(entry: JsonObject): KindReference {
  return { group: text(entry['group']), version: text(entry['version']), kind: text(entry['kind']) };
}

function readKind(value: Json | undefined): KindReference {
  const kind: JsonObject = isObject(value) ? value : {};
  return { group: text(kind['group']), version: text(kind['version']), kind: text(kind['kind']) };
}

function listed<Name extends string>(name: Name, value: Json | undefined): { readonly [key in Name]?: string[] } {
  const list = texts(value);
  return (list.length > 0 ? { [name]: list } : {}) as { readonly [key in Name]?: string[] };
}

/** With a slash in it, a name would be looked up as something else. */
function isSegment(name: string): boolean {
  return name !== '' && !name.includes('/');
}

function objects(value: Json | undefined, max: number): JsonObject[] {
  return Array.isArray(value) ? value.slice(0, max).filter(isObject) : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value)
    ? value.slice(0, REMOTE_DISCOVERY_BOUNDS.listMax).filter((each) => typeof each === 'string')
    : [];
}

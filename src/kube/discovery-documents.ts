import type {
  GroupDiscovery,
  KindReference,
  ResourceDiscovery,
  SubresourceDiscovery,
  VersionDiscovery,
} from './discovery.js';
import { isObject, type JsonObject } from './json.js';

/**
 * Bounds on the discovery of one server. Far above any real server, low enough that a broken or
 * hostile one cannot exhaust the memory of the other servers.
 */
export const DISCOVERY_BOUNDS = {
  groupsMax: 5_000,
  versionsPerGroupMax: 1_000,
  /** Resources and subresources together, in one group. */
  resourcesPerGroupMax: 10_000,
  /** Resources and subresources together, in one document. */
  resourcesMax: 100_000,
  /** Entries of one list of verbs, short names, categories or accepted types. */
  listMax: 500,
  nameCharsMax: 512,
} as const;

/** A discovery document, or one entry of it, does not have the form that Kubernetes defines. */
export class DiscoveryDocumentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DiscoveryDocumentError';
  }
}

export function documentKind(document: unknown): string {
  const kind = isObject(document) ? document['kind'] : undefined;
  return typeof kind === 'string' ? kind : '';
}

/** Parses JSON without checks of its form. Throws DiscoveryDocumentError. */
export function parseDiscoveryJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail(path, 'is not JSON');
  }
}

/**
 * Parses an aggregated document (v2 or v2beta1) into checked copies, with known fields of the right
 * type only. Of two entries with one name the first counts, as in Kubernetes clients.
 *
 * API servers pass on the resources of aggregated API servers without checks, and accept any
 * number of categories and versions in a CRD. A resource that is malformed or beyond its bound is
 * therefore left out, and its version counts as stale; the rest of the document stays usable.
 */
export function parseAggregated(document: unknown, path: string): GroupDiscovery[] {
  const list = object(document, path);
  if (list['kind'] !== 'APIGroupDiscoveryList') fail(path, 'kind is not APIGroupDiscoveryList');
  const apiVersion = list['apiVersion'];
  if (apiVersion !== 'apidiscovery.k8s.io/v2' && apiVersion !== 'apidiscovery.k8s.io/v2beta1') {
    fail(path, `apiVersion ${JSON.stringify(apiVersion)} is not known`);
  }
  const items = array(list['items'], `${path} items`);
  if (items.length > DISCOVERY_BOUNDS.groupsMax) fail(path, `more than ${DISCOVERY_BOUNDS.groupsMax} groups`);
  let left: number = DISCOVERY_BOUNDS.resourcesMax;
  const groups = items.map((item, i) => {
    const budget = { left: DISCOVERY_BOUNDS.resourcesPerGroupMax };
    const group = parseGroup(item, `${path} items[${i}]`, budget);
    left -= DISCOVERY_BOUNDS.resourcesPerGroupMax - budget.left;
    return group;
  });
  if (left < 0) fail(path, `more than ${DISCOVERY_BOUNDS.resourcesMax} resources`);
  return firstOfEach(groups, (group) => group.metadata.name ?? '');
}

/** Resources and subresources that one group may still have. */
interface Budget {
  left: number;
}

function parseGroup(value: unknown, at: string, budget: Budget): GroupDiscovery {
  const item = object(value, at);
  const name = optionalText(object(item['metadata'] ?? {}, `${at}.metadata`)['name'], `${at}.metadata.name`);
  const listed = array(item['versions'], `${at}.versions`).slice(0, DISCOVERY_BOUNDS.versionsPerGroupMax);
  const versions = wellFormed(listed, (entry, i) => parseVersion(entry, `${at}.versions[${i}]`, budget));
  return {
    metadata: name === undefined ? { creationTimestamp: null } : { name: segment(name, at), creationTimestamp: null },
    versions: firstOfEach(versions, (version) => version.version),
  };
}

function parseVersion(value: unknown, at: string, budget: Budget): VersionDiscovery {
  const item = object(value, at);
  const version = segment(text(item['version'], `${at}.version`), `${at}.version`);
  const listed = array(item['resources'], `${at}.resources`);
  const resources = wellFormed(listed, (entry, i) => parseResource(entry, `${at}.resources[${i}]`, budget));
  const isComplete = resources.length === listed.length;
  const freshness = isComplete ? optionalText(item['freshness'], `${at}.freshness`) : 'Stale';
  return {
    version,
    resources: firstOfEach(resources, (resource) => resource.resource),
    ...(freshness === 'Current' || freshness === 'Stale' ? { freshness } : {}),
  };
}

function parseResource(value: unknown, at: string, budget: Budget): ResourceDiscovery {
  spend(budget, at);
  const item = object(value, at);
  const scope = optionalText(item['scope'], `${at}.scope`);
  const singular = optionalText(item['singularResource'], `${at}.singularResource`);
  const shortNames = optionalTexts(item['shortNames'], `${at}.shortNames`);
  const categories = optionalTexts(item['categories'], `${at}.categories`);
  const subresources = array(item['subresources'], `${at}.subresources`).map((entry, i) =>
    parseSubresource(entry, `${at}.subresources[${i}]`, budget),
  );
  return {
    resource: segment(text(item['resource'], `${at}.resource`), `${at}.resource`),
    ...optionalKind('responseKind', item['responseKind'], at),
    ...(scope === 'Namespaced' || scope === 'Cluster' ? { scope } : {}),
    ...(singular === undefined ? {} : { singularResource: singular }),
    verbs: texts(item['verbs'], `${at}.verbs`),
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources: firstOfEach(subresources, (entry) => entry.subresource) } : {}),
  };
}

function parseSubresource(value: unknown, at: string, budget: Budget): SubresourceDiscovery {
  spend(budget, at);
  const item = object(value, at);
  const listed = array(item['acceptedTypes'], `${at}.acceptedTypes`).slice(0, DISCOVERY_BOUNDS.listMax);
  const accepted = listed.map((entry, i) => parseKind(entry, `${at}.acceptedTypes[${i}]`));
  return {
    subresource: text(item['subresource'], `${at}.subresource`),
    ...optionalKind('responseKind', item['responseKind'], at),
    ...(accepted.length > 0 ? { acceptedTypes: accepted } : {}),
    verbs: texts(item['verbs'], `${at}.verbs`),
  };
}

function optionalKind(name: 'responseKind', value: unknown, at: string): { responseKind?: KindReference } {
  return value === undefined || value === null ? {} : { [name]: parseKind(value, `${at}.${name}`) };
}

/** Parses a kind. The API server always writes all three fields, empty ones too, for old clients. */
function parseKind(value: unknown, at: string): KindReference {
  const item = object(value, at);
  return {
    group: optionalText(item['group'], `${at}.group`) ?? '',
    version: optionalText(item['version'], `${at}.version`) ?? '',
    kind: optionalText(item['kind'], `${at}.kind`) ?? '',
  };
}

/** Returns the versions of the core group from a legacy `/api`. */
export function parseApiVersions(document: unknown, path: string): string[] {
  const list = object(document, path);
  if (list['kind'] !== 'APIVersions') fail(path, 'kind is not APIVersions');
  return [...new Set(texts(list['versions'], `${path} versions`).map((version) => segment(version, path)))];
}

export interface LegacyGroup {
  readonly name: string;
  /** Preferred first. */
  readonly versions: readonly string[];
}

/** Returns groups and their versions from a legacy `/apis`. */
export function parseGroupList(document: unknown, path: string): LegacyGroup[] {
  const list = object(document, path);
  if (list['kind'] !== 'APIGroupList') fail(path, 'kind is not APIGroupList');
  const listed = array(list['groups'], `${path} groups`);
  if (listed.length > DISCOVERY_BOUNDS.groupsMax) fail(path, `more than ${DISCOVERY_BOUNDS.groupsMax} groups`);
  const groups = wellFormed(listed, (value, i): LegacyGroup => {
    const at = `${path} groups[${i}]`;
    const item = object(value, at);
    const entries = array(item['versions'], `${at}.versions`).slice(0, DISCOVERY_BOUNDS.versionsPerGroupMax);
    const versions = wellFormed(entries, (entry) =>
      segment(text(object(entry, `${at}.versions`)['version'], `${at}.versions`), `${at}.versions`),
    );
    const preferred = optionalText(object(item['preferredVersion'] ?? {}, at)['version'], `${at}.preferredVersion`);
    const ordered = preferred !== undefined && versions.includes(preferred) ? [preferred, ...versions] : versions;
    return { name: segment(text(item['name'], `${at}.name`), `${at}.name`), versions: [...new Set(ordered)] };
  });
  return firstOfEach(groups, (group) => group.name);
}

/**
 * Returns the resources of one group-version from its legacy list, in which `pods/status` is a
 * sibling of `pods`. Kinds without group and version get those of `unnamed`.
 */
export function parseResourceList(document: unknown, path: string, unnamed: LegacyVersion): ResourceDiscovery[] {
  const list = object(document, path);
  if (list['kind'] !== 'APIResourceList') fail(path, 'kind is not APIResourceList');
  const listed = array(list['resources'], `${path} resources`).slice(0, DISCOVERY_BOUNDS.resourcesPerGroupMax);
  const entries = wellFormed(listed, (value, i) => parseLegacyEntry(value, `${path} resources[${i}]`, unnamed));
  const byName = new Map<string, ResourceDiscovery>();
  for (const entry of entries) {
    if (entry.subresource === '' && !byName.has(entry.resource)) byName.set(entry.resource, entry.whole);
  }
  const subresources = new Map<string, SubresourceDiscovery[]>();
  for (const entry of entries) {
    if (entry.subresource === '') continue;
    // Some API servers list `pods/some-metric` without `pods`; the parent then has no verbs.
    if (!byName.has(entry.resource)) byName.set(entry.resource, { resource: entry.resource, verbs: [] });
    const list = subresources.get(entry.resource) ?? [];
    list.push({ subresource: entry.subresource, responseKind: entry.kind, verbs: entry.whole.verbs ?? [] });
    subresources.set(entry.resource, list);
  }
  return [...byName.values()].map((resource) => {
    const children = subresources.get(resource.resource);
    return children ? { ...resource, subresources: firstOfEach(children, (entry) => entry.subresource) } : resource;
  });
}

export interface LegacyVersion {
  readonly group: string;
  readonly version: string;
}

function parseLegacyEntry(value: unknown, at: string, gv: LegacyVersion) {
  const item = object(value, at);
  const name = text(item['name'], `${at}.name`);
  const slash = name.indexOf('/');
  const kind: KindReference = {
    group: optionalText(item['group'], `${at}.group`) || gv.group,
    version: optionalText(item['version'], `${at}.version`) || gv.version,
    kind: optionalText(item['kind'], `${at}.kind`) ?? '',
  };
  const resource = segment(slash < 0 ? name : name.slice(0, slash), `${at}.name`);
  const singular = optionalText(item['singularName'], `${at}.singularName`);
  const shortNames = optionalTexts(item['shortNames'], `${at}.shortNames`);
  const categories = optionalTexts(item['categories'], `${at}.categories`);
  const whole: ResourceDiscovery = {
    resource,
    responseKind: kind,
    scope: item['namespaced'] === true ? 'Namespaced' : 'Cluster',
    ...(singular === undefined ? {} : { singularResource: singular }),
    verbs: texts(item['verbs'], `${at}.verbs`),
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
  };
  return { resource, subresource: slash < 0 ? '' : name.slice(slash + 1), kind, whole };
}

function fail(at: string, why: string): never {
  throw new DiscoveryDocumentError(`discovery document ${at}: ${why}`);
}

function spend(budget: Budget, at: string): void {
  if (budget.left === 0) fail(at, `more than ${DISCOVERY_BOUNDS.resourcesPerGroupMax} resources`);
  budget.left -= 1;
}

function object(value: unknown, at: string): JsonObject {
  return isObject(value) ? value : fail(at, 'is not an object');
}

/** Returns a list. Go writes an empty list as null or omits it. */
function array(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : fail(at, 'is not a list');
}

/** Parses the entries of a list and leaves out those that are malformed. */
function wellFormed<T>(list: readonly unknown[], parse: (entry: unknown, index: number) => T): T[] {
  return list.flatMap((entry, i) => {
    try {
      return [parse(entry, i)];
    } catch (error) {
      if (error instanceof DiscoveryDocumentError) return [];
      throw error;
    }
  });
}

function text(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '') return fail(at, 'is not a name');
  if (value.length > DISCOVERY_BOUNDS.nameCharsMax)
    fail(at, `is longer than ${DISCOVERY_BOUNDS.nameCharsMax} characters`);
  if (/[\u0000-\u0020\u007f]/.test(value)) fail(at, 'has blanks or control characters');
  return value;
}

function optionalText(value: unknown, at: string): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : text(value, at);
}

/** Returns the well-formed names of a list, up to the bound. */
function texts(value: unknown, at: string): string[] {
  return wellFormed(array(value, at).slice(0, DISCOVERY_BOUNDS.listMax), (entry) => text(entry, at));
}

function optionalTexts(value: unknown, at: string): string[] | undefined {
  const list = texts(value, at);
  return list.length > 0 ? list : undefined;
}

/** Checks that a name is one path segment; with a slash it would address another resource. */
function segment(name: string, at: string): string {
  return name.includes('/') ? fail(at, `${JSON.stringify(name)} has a slash`) : name;
}

function firstOfEach<T>(entries: readonly T[], nameOf: (entry: T) => string): T[] {
  const names = new Set<string>();
  return entries.filter((entry) => {
    const name = nameOf(entry);
    if (names.has(name)) return false;
    names.add(name);
    return true;
  });
}

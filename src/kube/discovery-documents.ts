import type {
  GroupDiscovery,
  KindReference,
  ResourceDiscovery,
  SubresourceDiscovery,
  VersionDiscovery,
} from './discovery.js';
import { gvrKey } from './gvr.js';
import type { ServedResource, Surface } from './surface.js';

/**
 * Bounds on what one server may claim to serve. Far above any real server, low enough that a broken or hostile one
 * cannot fill the memory of every other server.
 */
export const SURFACE_BOUNDS = {
  groupsMax: 5_000,
  versionsPerGroupMax: 100,
  /** Resources and subresources together, in one document. */
  resourcesMax: 100_000,
  /** Entries of one list of verbs, short names, categories or accepted types. */
  listMax: 500,
  nameCharsMax: 512,
} as const;

/** A discovery document that is not what Kubernetes defines. Nothing of it was applied. */
export class SurfaceDocumentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SurfaceDocumentError';
  }
}

type Json = Readonly<Record<string, unknown>>;

export function documentKind(document: unknown): string {
  const kind = isObject(document) ? document['kind'] : undefined;
  return typeof kind === 'string' ? kind : '';
}

/**
 * An aggregated document (v2 or v2beta1) as checked copies: only fields that are known, only types that are right.
 * Of two entries with one name the first counts, as it does for Kubernetes' own clients.
 */
export function parseAggregated(document: unknown, path: string): GroupDiscovery[] {
  const list = object(document, path);
  if (list['kind'] !== 'APIGroupDiscoveryList') fail(path, 'kind is not APIGroupDiscoveryList');
  const apiVersion = list['apiVersion'];
  if (apiVersion !== 'apidiscovery.k8s.io/v2' && apiVersion !== 'apidiscovery.k8s.io/v2beta1') {
    fail(path, `apiVersion ${JSON.stringify(apiVersion)} is not known`);
  }
  const budget = { left: SURFACE_BOUNDS.resourcesMax };
  const groups = array(list['items'], `${path} items`, SURFACE_BOUNDS.groupsMax).map((item, i) =>
    parseGroup(item, `${path} items[${i}]`, budget),
  );
  return firstOfEach(groups, (group) => group.metadata.name ?? '');
}

interface Budget {
  left: number;
}

function parseGroup(value: unknown, at: string, budget: Budget): GroupDiscovery {
  const item = object(value, at);
  const name = optionalText(object(item['metadata'] ?? {}, `${at}.metadata`)['name'], `${at}.metadata.name`);
  const versions = array(item['versions'], `${at}.versions`, SURFACE_BOUNDS.versionsPerGroupMax).map((entry, i) =>
    parseVersion(entry, `${at}.versions[${i}]`, budget),
  );
  return {
    metadata: name === undefined ? { creationTimestamp: null } : { name: segment(name, at), creationTimestamp: null },
    versions: firstOfEach(versions, (version) => version.version),
  };
}

function parseVersion(value: unknown, at: string, budget: Budget): VersionDiscovery {
  const item = object(value, at);
  const resources = array(item['resources'], `${at}.resources`, budget.left).map((entry, i) =>
    parseResource(entry, `${at}.resources[${i}]`, budget),
  );
  const freshness = optionalText(item['freshness'], `${at}.freshness`);
  return {
    version: segment(text(item['version'], `${at}.version`), `${at}.version`),
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
  const subresources = array(item['subresources'], `${at}.subresources`, budget.left).map((entry, i) =>
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
  const accepted = array(item['acceptedTypes'], `${at}.acceptedTypes`, SURFACE_BOUNDS.listMax).map((entry, i) =>
    parseKind(entry, `${at}.acceptedTypes[${i}]`),
  );
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

/** The API server always writes all three parts, empty ones too, so that old clients find them. */
function parseKind(value: unknown, at: string): KindReference {
  const item = object(value, at);
  return {
    group: optionalText(item['group'], `${at}.group`) ?? '',
    version: optionalText(item['version'], `${at}.version`) ?? '',
    kind: optionalText(item['kind'], `${at}.kind`) ?? '',
  };
}

/** Versions of the core group from a legacy `/api`. */
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

/** Groups and their versions from a legacy `/apis`. */
export function parseGroupList(document: unknown, path: string): LegacyGroup[] {
  const list = object(document, path);
  if (list['kind'] !== 'APIGroupList') fail(path, 'kind is not APIGroupList');
  const groups = array(list['groups'], `${path} groups`, SURFACE_BOUNDS.groupsMax).map((value, i): LegacyGroup => {
    const at = `${path} groups[${i}]`;
    const item = object(value, at);
    const versions = array(item['versions'], `${at}.versions`, SURFACE_BOUNDS.versionsPerGroupMax).map((entry) =>
      segment(text(object(entry, `${at}.versions`)['version'], `${at}.versions`), `${at}.versions`),
    );
    const preferred = optionalText(object(item['preferredVersion'] ?? {}, at)['version'], `${at}.preferredVersion`);
    const ordered = preferred !== undefined && versions.includes(preferred) ? [preferred, ...versions] : versions;
    return { name: segment(text(item['name'], `${at}.name`), `${at}.name`), versions: [...new Set(ordered)] };
  });
  return firstOfEach(groups, (group) => group.name);
}

/** Resources of one group-version from its legacy list, where `pods/status` stands beside `pods`. */
export function parseResourceList(document: unknown, at: LegacyVersion): ResourceDiscovery[] {
  const path = at.group === '' ? `/api/${at.version}` : `/apis/${at.group}/${at.version}`;
  const list = object(document, path);
  if (list['kind'] !== 'APIResourceList') fail(path, 'kind is not APIResourceList');
  const entries = array(list['resources'], `${path} resources`, SURFACE_BOUNDS.resourcesMax).map((value, i) =>
    parseLegacyEntry(value, `${path} resources[${i}]`, at),
  );
  const byName = new Map<string, ResourceDiscovery>();
  for (const entry of entries) {
    if (entry.subresource === '' && !byName.has(entry.resource)) byName.set(entry.resource, entry.whole);
  }
  const subresources = new Map<string, SubresourceDiscovery[]>();
  for (const entry of entries) {
    if (entry.subresource === '') continue;
    // Some API servers list `pods/some-metric` and no `pods`; the parent is then a name only.
    if (!byName.has(entry.resource)) byName.set(entry.resource, { resource: entry.resource, verbs: [] });
    const list = subresources.get(entry.resource) ?? [];
    list.push({ subresource: entry.subresource, responseKind: entry.kind, verbs: entry.whole.verbs ?? [] });
    subresources.set(entry.resource, list);
  }
  return [...byName.values()].map((resource) => {
    const own = subresources.get(resource.resource);
    return own ? { ...resource, subresources: firstOfEach(own, (entry) => entry.subresource) } : resource;
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

export interface SurfaceDocuments {
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
  readonly kubernetesVersion: string;
}

/** Indexes checked documents for routing. */
export function buildSurface(documents: SurfaceDocuments): Surface {
  const resources = new Map<string, ServedResource>();
  // Every server repeats the same few lists of verbs thousands of times; one set for each keeps surfaces small.
  const sets = new Map<string, ReadonlySet<string>>();
  const verbSet = (verbs: readonly string[] | undefined): ReadonlySet<string> => {
    const key = (verbs ?? []).join(',');
    let set = sets.get(key);
    if (!set) {
      set = new Set(verbs ?? []);
      sets.set(key, set);
    }
    return set;
  };
  for (const group of [...documents.core, ...documents.groups]) {
    for (const version of group.versions ?? []) {
      for (const resource of version.resources ?? []) {
        const key = gvrKey(group.metadata.name ?? '', version.version, resource.resource);
        if (resources.has(key)) continue;
        const subresources = new Map((resource.subresources ?? []).map((s) => [s.subresource, verbSet(s.verbs)]));
        resources.set(key, { verbs: verbSet(resource.verbs), subresources });
      }
    }
  }
  return { resources, core: documents.core, groups: documents.groups, kubernetesVersion: documents.kubernetesVersion };
}

/** Whether `next` lacks a resource, subresource or verb that `before` had. */
export function lostSomething(before: Surface, next: Surface): boolean {
  for (const [key, had] of before.resources) {
    const has = next.resources.get(key);
    if (!has || lacks(has.verbs, had.verbs)) return true;
    for (const [name, verbs] of had.subresources) {
      const still = has.subresources.get(name);
      if (!still || lacks(still, verbs)) return true;
    }
  }
  return false;
}

function lacks(has: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  if (has === wanted) return false;
  for (const verb of wanted) if (!has.has(verb)) return true;
  return false;
}

function fail(at: string, why: string): never {
  throw new SurfaceDocumentError(`discovery document ${at}: ${why}`);
}

function spend(budget: Budget, at: string): void {
  if (--budget.left < 0) fail(at, `more than ${SURFACE_BOUNDS.resourcesMax} resources`);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown, at: string): Json {
  return isObject(value) ? value : fail(at, 'is not an object');
}

/** Go writes an empty list as null or leaves it out. */
function array(value: unknown, at: string, max: number): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return fail(at, 'is not a list');
  if (value.length > max) return fail(at, `has ${value.length} entries, more than ${max}`);
  return value;
}

function text(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '') return fail(at, 'is not a name');
  if (value.length > SURFACE_BOUNDS.nameCharsMax) fail(at, `is longer than ${SURFACE_BOUNDS.nameCharsMax} characters`);
  if (/[\u0000-\u0020\u007f]/.test(value)) fail(at, 'has blanks or control characters');
  return value;
}

function optionalText(value: unknown, at: string): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : text(value, at);
}

function texts(value: unknown, at: string): string[] {
  return array(value, at, SURFACE_BOUNDS.listMax).map((entry) => text(entry, at));
}

function optionalTexts(value: unknown, at: string): string[] | undefined {
  const list = texts(value, at);
  return list.length > 0 ? list : undefined;
}

/** A name that is one segment of a path; with a slash in it, it would be looked up as something else. */
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

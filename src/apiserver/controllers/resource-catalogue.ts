import type { ApiClient, DiscoveredApi } from '../../kube/client/api-client.js';
import type { GroupDiscovery, VersionDiscovery } from '../../kube/discovery.js';
import { groupVersion } from '../../kube/gvr.js';
import { kindsOfVersion, type ResourceKind } from '../../kube/resource-kind.js';

/** A resource as the control plane serves it in one version. */
export interface ApiResource extends ResourceKind {
  /** True if a live server serves it; false if only departed servers did. */
  readonly isCurrent: boolean;
}

/** The resources of the control plane, indexed for controllers. Immutable. */
export class Catalogue {
  /** Why resources may be missing; empty if complete. */
  readonly gaps: readonly string[];
  /** One version of each resource: the first that a live server serves, else the first. */
  readonly preferred: readonly ApiResource[];
  readonly #byKind = new Map<string, ApiResource>();
  readonly #byKey = new Map<string, ApiResource>();

  constructor({ groups, gaps }: DiscoveredApi) {
    const stale: string[] = [];
    const preferred = new Map<string, ApiResource>();
    for (const group of groups) {
      for (const version of group.versions ?? []) {
        if (!isFresh(version)) stale.push(groupVersion(group.metadata.name ?? '', version.version));
        for (const each of resourcesOf(group, version)) this.#add(each, preferred);
      }
    }
    this.preferred = [...preferred.values()];
    this.gaps = [...gaps, ...stale.map((each) => `${each}: no server that is there now serves it`)];
  }

  get isComplete(): boolean {
    return this.gaps.length === 0;
  }

  ofKind(apiVersion: string, kind: string): ApiResource | undefined {
    return this.#byKind.get(`${apiVersion} ${kind}`);
  }

  ofKey(key: string): ApiResource | undefined {
    return this.#byKey.get(key);
  }

  #add(resource: ApiResource, preferred: Map<string, ApiResource>): void {
    this.#byKey.set(resource.key, resource);
    const kind = `${groupVersion(resource.group, resource.version)} ${resource.kind}`;
    // Of two resources of one kind, the one that can be read by name: owners are objects.
    if (!this.#byKind.get(kind)?.verbs.has('get')) this.#byKind.set(kind, resource);
    const place = `${resource.group}/${resource.resource}`;
    const known = preferred.get(place);
    if (!known || (!known.isCurrent && resource.isCurrent)) preferred.set(place, resource);
  }
}

function resourcesOf(group: GroupDiscovery, version: VersionDiscovery): ApiResource[] {
  return kindsOfVersion(group, version).map((kind) => ({ ...kind, isCurrent: isFresh(version) }));
}

/** Documents without the field are current. */
function isFresh({ freshness }: VersionDiscovery): boolean {
  return freshness === undefined || freshness === 'Current';
}

/** Reads discovery on every call, and indexes it only after a change. */
export class CatalogueReader {
  readonly #client: ApiClient;
  #from: DiscoveredApi | undefined;
  #catalogue: Catalogue | undefined;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Rejects if discovery cannot be read in full. */
  async read(): Promise<Catalogue> {
    const discovered = await this.#client.discover();
    if (this.#catalogue && discovered === this.#from) return this.#catalogue;
    this.#from = discovered;
    this.#catalogue = new Catalogue(discovered);
    return this.#catalogue;
  }
}

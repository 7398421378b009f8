import { Exchange } from '../../http/exchange.js';
import type { JsonObject } from '../../kube/json.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import type { ResourceType, Subresource } from '../registry/resource-type.js';
import type { ServedResources, VirtualResource } from '../registry/served-resources.js';
import { ANY } from '../schema/schema.js';
import type { BuiltInSurface } from '../surfaces/built-in-surface.js';
import type { SurfaceResource } from '../surfaces/surface-file.js';

/** What a server of a surface serves with its default flags. */
export function servedOf(surface: BuiltInSurface, custom: readonly ResourceType[] = []): ServedResources {
  const all = surface.groups.flatMap(({ name, versions }) =>
    versions
      .filter(({ offByDefault }) => !offByDefault)
      .flatMap(({ version, resources }) =>
        resources.filter(({ offByDefault }) => !offByDefault).map((each) => discoverable(name, version, each)),
      ),
  );
  return {
    types: [...all.filter(isStored).map(stored), ...custom],
    virtual: all.filter((each) => !isStored(each)),
    aggregated: [],
    order: surface.groups,
  };
}

function isStored({ verbs, kind }: VirtualResource): boolean {
  return verbs.has('get') && kind !== 'ComponentStatus';
}

function discoverable(group: string, version: string, each: SurfaceResource): VirtualResource {
  const subresources = (each.subresources ?? []).map(
    ({ name, kind, kindGroup, kindVersion, verbs }): Subresource => ({
      name,
      kind,
      kindGroup: kindGroup ?? group,
      kindVersion: kindVersion ?? version,
      verbs: new Set(verbs),
    }),
  );
  return {
    group,
    version,
    resource: each.name,
    singular: each.singular,
    kind: each.kind,
    namespaced: each.namespaced,
    verbs: new Set(each.verbs),
    shortNames: each.shortNames ?? [],
    categories: each.categories ?? [],
    subresources: new Map(subresources.map((sub) => [sub.name, sub])),
  };
}

/** Only what documents are made of: nothing here stores or validates. */
function stored(each: VirtualResource): ResourceType {
  const apiVersion = each.group === '' ? each.version : `${each.group}/${each.version}`;
  return {
    ...each,
    listKind: `${each.kind}List`,
    origin: 'built-in',
    schema: ANY,
    storage: { prefix: `/registry/${each.resource}/`, apiVersion },
  } as unknown as ResourceType;
}

export interface CustomInit {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced?: boolean;
  readonly subresources?: readonly ('status' | 'scale')[];
}

export function customType({ group, version, resource, kind, namespaced = true, subresources = [] }: CustomInit) {
  const made = stored({
    group,
    version,
    resource,
    singular: kind.toLowerCase(),
    kind,
    namespaced,
    verbs: new Set(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']),
    shortNames: [`x${resource.charAt(0)}`],
    categories: ['all', 'ex'],
    subresources: new Map(
      subresources.map((name) => [
        name,
        {
          name,
          kind: name === 'scale' ? 'Scale' : kind,
          kindGroup: name === 'scale' ? 'autoscaling' : group,
          kindVersion: name === 'scale' ? 'v1' : version,
          verbs: new Set(['get', 'patch', 'update']),
        },
      ]),
    ),
  });
  return { ...made, origin: 'custom' as const };
}

export function exchangeFor(target: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Exchange {
  const exchange = new Exchange(
    {
      method,
      target,
      headers: Object.entries(headers).flat(),
      body: null,
      connection: { remoteAddress: '127.0.0.1', certificateChain: [] },
    },
    0,
  );
  exchange.info = parseRequestInfo(method, target)!;
  return exchange;
}

export function bodyOf(reply: { readonly body: unknown } | undefined): JsonObject {
  return JSON.parse(Buffer.from(reply!.body as Uint8Array).toString()) as JsonObject;
}

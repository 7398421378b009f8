import { groupVersion } from '../../kube/gvr.js';
import { ANY, type Schema } from '../schema/schema.js';
import { selectableFieldsOf } from '../select/field-selector-kinds.js';
import type { BuiltInSurface } from '../surfaces/built-in-surface.js';
import { isServed, type RuntimeConfig } from '../surfaces/runtime-config.js';
import type { SurfaceGroup, SurfaceResource } from '../surfaces/surface-file.js';
import { builtInPrinter } from '../table/built-in-printers.js';
import { builtInConversion, storedElsewhere } from './built-in-conversions.js';
import type { ResourceType, Subresource } from './resource-type.js';
import type { VirtualResource } from './served-resources.js';
import { builtInPrefix } from './storage-layout.js';
import type { Strategy } from './strategy.js';

export interface BuiltInResource extends Pick<ResourceType, 'group' | 'version' | 'resource' | 'kind' | 'namespaced'> {
  readonly subresources: readonly string[];
}

export interface BuiltInTypesOptions {
  readonly runtimeConfig: RuntimeConfig;
  strategyOf(resource: BuiltInResource, schema: Schema): Strategy;
  readonly eventTtlSeconds: number;
}

export interface BuiltInTypes {
  readonly types: readonly ResourceType[];
  /** Resources without stored objects: reviews and the like. */
  readonly virtual: readonly VirtualResource[];
}

/** Returns the types that a surface serves with a runtime configuration. */
export function builtInTypes(surface: BuiltInSurface, options: BuiltInTypesOptions): BuiltInTypes {
  const types: ResourceType[] = [];
  const virtual: VirtualResource[] = [];
  for (const group of surface.groups) {
    for (const { version, offByDefault, resources } of group.versions) {
      for (const each of resources) {
        const byDefault = { version: offByDefault !== true, resource: each.offByDefault !== true };
        const place = { group: group.name, version, resource: each.name };
        if (!isServed(options.runtimeConfig, place, byDefault)) continue;
        const common = commonOf(group.name, version, each);
        if (isStored(each)) types.push(storedType(common, each, { surface, group, options }));
        else virtual.push(common);
      }
    }
  }
  return { types, virtual };
}

function isStored({ verbs, kind }: SurfaceResource): boolean {
  return verbs.includes('get') && kind !== 'ComponentStatus';
}

function commonOf(group: string, version: string, each: SurfaceResource): VirtualResource {
  const subresources = (each.subresources ?? []).map(
    ({ name, kind, kindGroup, kindVersion, verbs }): readonly [string, Subresource] => [
      name,
      { name, kind, kindGroup: kindGroup ?? group, kindVersion: kindVersion ?? version, verbs: new Set(verbs) },
    ],
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
    subresources: new Map(subresources),
  };
}

interface GroupContext {
  readonly surface: BuiltInSurface;
  readonly group: SurfaceGroup;
  readonly options: BuiltInTypesOptions;
}

function storedType(
  common: VirtualResource,
  each: SurfaceResource,
  { surface, group, options }: GroupContext,
): ResourceType {
  const { version } = common;
  const schema = surface.kind(each.kindGroup ?? group.name, each.kindVersion ?? version, each.kind)?.schema ?? ANY;
  const place = { group: group.name, version, resource: each.name, kind: each.kind };
  const stored = storedElsewhere(place) ?? { group: group.name, version: storageVersion(group, each.name) };
  const isEvent = each.kind === 'Event';
  return {
    ...common,
    listKind: `${each.kind}List`,
    origin: 'built-in',
    schema,
    strategy: options.strategyOf(
      { ...place, namespaced: each.namespaced, subresources: (each.subresources ?? []).map(({ name }) => name) },
      schema,
    ),
    printer: builtInPrinter(group.name, each.name, surface.minor),
    selectable: selectableFieldsOf(place),
    storage: {
      prefix: builtInPrefix({ group: stored.group, resource: each.name }),
      apiVersion: groupVersion(stored.group, stored.version),
      ...(isEvent ? { ttlSeconds: options.eventTtlSeconds } : {}),
    },
    conversion: builtInConversion(place, groupVersion(stored.group, stored.version)),
  };
}

/** The preferred version that is on by default, else the preferred one: equal on all servers of a minor version. */
function storageVersion(group: SurfaceGroup, resource: string): string {
  const having = group.versions.filter(({ resources }) => resources.some(({ name }) => name === resource));
  return (having.find(({ offByDefault }) => offByDefault !== true) ?? having[0]!).version;
}

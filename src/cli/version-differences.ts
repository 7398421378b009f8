import { loadSurface } from '../apiserver/surfaces/load-surface.js';
import { parseRuntimeConfig } from '../apiserver/surfaces/runtime-config.js';
import { surfaceDiscovery } from '../apiserver/surfaces/surface-discovery.js';
import type { SurfaceVersion } from '../apiserver/surfaces/surface-file.js';
import { groupVersion, resourceName } from '../kube/gvr.js';
import type { ResourceKind } from '../kube/resource-kind.js';
import { choose } from '../tools/rehearse/choice.js';
import { type Difference, differencesBetween } from '../tools/rehearse/differences.js';
import { hasTemplate } from '../tools/rehearse/templates.js';

/** Two versions that come with Straddle, and entries of --runtime-config: `scheduling.k8s.io/v1alpha2=true`. */
export interface VersionPair {
  readonly from: string;
  readonly to: string;
  readonly runtimeConfig: readonly string[];
}

/** Returns what only one of two servers of these versions serves. Rejects with a message for the operator. */
export async function versionDifferences({ from, to, runtimeConfig }: VersionPair): Promise<readonly Difference[]> {
  const config = parseRuntimeConfig(runtimeConfig);
  const [older, newer] = await Promise.all([loadSurface(from), loadSurface(to)]);
  return differencesBetween(surfaceDiscovery(older, config), surfaceDiscovery(newer, config));
}

/** Returns a resource that servers of `to` list and those of `from` lack, namespaced if possible, as kubectl takes it. */
export async function newResource(pair: VersionPair): Promise<ResourceKind | undefined> {
  const added = (await versionDifferences(pair))
    .filter(({ servedBy, subresource, isPartial, verbs, kind }) => {
      const isListed = subresource === '' && !isPartial && verbs.has('list');
      // kubectl would list the core group's resources without a group, and take another one of that name.
      return servedBy === 'to' && isListed && kind.group !== '';
    })
    .map(({ kind }) => kind);
  return added.find(({ namespaced }) => namespaced) ?? added[0];
}

/** Returns what to do so that the versions differ, as the end of a sentence. */
export async function adviceToDiffer(pair: VersionPair): Promise<string> {
  const { from, to } = pair;
  const present = new Set((await versionDifferences(pair)).map(({ name }) => name));
  const possible = await versionDifferences({ ...pair, runtimeConfig: ['api/all=true'] });
  const differences = possible.filter(({ name }) => !present.has(name));
  const usable = choose({ from, to, differences, manifests: [] }).candidates.filter(
    ({ reason, difference: { subresource } }) => reason === undefined && subresource === '',
  );
  const kinds = usable.map(({ difference: { kind } }) => kind).filter(hasTemplate);
  const chosen = kinds.find(({ namespaced }) => namespaced) ?? kinds[0];
  if (chosen === undefined) return 'give versions that are further apart';
  return `turn an API on that only one of them has, such as --runtime-config=${await entryFor(chosen, to)} for ${resourceName(chosen)}, or give versions that are further apart`;
}

/** Returns the entry of --runtime-config that turns a resource on: that of its version, unless that is on already. */
async function entryFor({ group, version, resource }: ResourceKind, to: string): Promise<string> {
  const { groups } = await loadSurface(to);
  const isOfVersion = (each: SurfaceVersion): boolean => each.version === version;
  const isOff = groups.find(({ name }) => name === group)?.versions.find(isOfVersion)?.offByDefault === true;
  return `${groupVersion(group, version)}${isOff ? '' : `/${resource}`}=true`;
}

import type { GroupDiscovery, ResourceDiscovery, VersionDiscovery } from '../../kube/discovery.js';
import type { BuiltInSurface } from './built-in-surface.js';
import { isServed, type RuntimeConfig } from './runtime-config.js';
import type { SurfaceResource } from './surface-file.js';

/** The discovery of a server with this surface and `--runtime-config`, without custom resources and aggregated APIs. */
export function surfaceDiscovery({ groups }: BuiltInSurface, config: RuntimeConfig): GroupDiscovery[] {
  return groups.map(({ name, versions }) => ({
    metadata: name === '' ? {} : { name },
    versions: versions
      .map(({ version, offByDefault, resources }): VersionDiscovery => {
        const isOn = (each: SurfaceResource): boolean =>
          isServed(
            config,
            { group: name, version, resource: each.name },
            { version: offByDefault !== true, resource: each.offByDefault !== true },
          );
        return { version, resources: resources.filter(isOn).map((each) => resourceDiscovery(each, name, version)) };
      })
      .filter(({ resources = [] }) => resources.length > 0),
  }));
}

function resourceDiscovery(each: SurfaceResource, group: string, version: string): ResourceDiscovery {
  const { name, kind, kindGroup = group, kindVersion = version, namespaced, verbs, subresources = [] } = each;
  return {
    resource: name,
    responseKind: { group: kindGroup, version: kindVersion, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    verbs,
    subresources: subresources.map((sub) => ({ subresource: sub.name, verbs: sub.verbs })),
  };
}

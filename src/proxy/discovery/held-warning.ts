import type { GroupDiscovery } from '../../kube/discovery.js';
import { groupVersion } from '../../kube/gvr.js';
import type { ServerSurface } from './merge.js';

/** Group-versions and servers named in one warning. */
const NAMES_MAX = 5;
/** A DNS name has no more. */
const NAME_LENGTH_MAX = 253;

/**
 * Returns the value of a Warning header for discovery with versions that only departed servers served; undefined without
 * such. Clients take a version that is `Stale` for one that could not be read, and kubectl then prints that there is no such
 * resource type: the warning, which kubectl prints above that, has the reason.
 */
export function heldWarning(servers: readonly ServerSurface[], root: 'core' | 'groups'): string | undefined {
  const live = new Set(servers.filter(({ departed }) => !departed).flatMap((each) => versionsOf(each.surface[root])));
  const held = new Set<string>();
  const gone = new Set<string>();
  for (const { identity, surface, departed } of servers) {
    if (!departed) continue;
    for (const each of versionsOf(surface[root])) {
      if (live.has(each)) continue;
      held.add(each);
      gone.add(identity);
    }
  }
  if (held.size === 0) return undefined;
  const [are, it] = held.size === 1 ? ['is', 'it'] : ['are', 'them'];
  const text = `${some(held)} ${are} held: no server serves ${it} since ${some(gone)} went away, and requests for ${it} are answered 503`;
  return `299 - "${text}"`;
}

function versionsOf(groups: readonly GroupDiscovery[]): string[] {
  return groups.flatMap(({ metadata, versions }) =>
    (versions ?? []).map(({ version }) => groupVersion(metadata.name ?? '', version)),
  );
}

function some(names: ReadonlySet<string>): string {
  const sorted = [...names].sort();
  const more = sorted.length - NAMES_MAX;
  return sorted.slice(0, NAMES_MAX).map(quotable).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Servers choose these names: nothing may end the quoted text or the header. */
function quotable(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX).replace(/[^\w./:-]/g, '?');
}

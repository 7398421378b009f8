import { eachBounded } from '../../../base/each-bounded.js';
import { apiPath, gvrKey } from '../../../kube/gvr.js';
import { type JsonObject, objectMember } from '../../../kube/json.js';
import type { MatrixRow } from '../../../kube/surface-matrix.js';
import { Asker, type AskerOptions } from '../ask.js';
import type { InspectedSurface } from '../surfaces.js';
import { boundedList, type ListReading, type ReadList } from './bounded-list.js';
import { askForRight, closed, type GateReason, unknown } from './gate-reason.js';
import type { Rollback } from './rollback.js';

/** Objects of one resource. */
export interface StoredObjects {
  /** `podgroups.v1beta1.scheduling.k8s.io`. */
  readonly resource: string;
  /** The server that was asked. */
  readonly server: string;
  readonly reading: ListReading;
}

/** The server need not send whole objects to be counted. */
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const PAGE_ITEMS = 500;
const PAGES_MAX = 20;
const RESOURCES_AT_ONCE_MAX = 4;

/** Asks servers that still serve these resources how many objects there are. Never rejects for a reply. */
export function countStored(
  lost: readonly MatrixRow[],
  surfaces: readonly InspectedSurface[],
  { credentials, nowMs, timeoutMs }: Pick<AskerOptions, 'credentials' | 'nowMs' | 'timeoutMs'>,
): Promise<StoredObjects[]> {
  return eachBounded(lost, RESOURCES_AT_ONCE_MAX, async ({ group, version, resource, name }) => {
    const server = surfaces.find(({ local }) => local.resources.has(gvrKey(group, version, resource)));
    if (!server) throw new Error(`no server serves ${name}`);
    const asker = new Asker({ url: `https://${server.address}`, credentials, nowMs, timeoutMs });
    try {
      const path = `${apiPath(group, version)}/${resource}`;
      const first = await boundedList(asker, { path, pageItems: 1, pagesMax: 1, accept: METADATA });
      const isCounted = first.state !== 'read' || first.isComplete || first.remaining !== undefined;
      const question = { path, pageItems: PAGE_ITEMS, pagesMax: PAGES_MAX, accept: METADATA };
      return { resource: name, server: server.name, reading: isCounted ? first : await boundedList(asker, question) };
    } finally {
      asker.close();
    }
  });
}

/** Reasons against a rollback: objects that nobody would serve after it. */
export function storedObjectReasons(
  { to, source }: Pick<Rollback, 'to' | 'source'>,
  stored: readonly StoredObjects[],
): GateReason[] {
  const servedBy = source === 'servers' ? `the servers of ${to} do not serve` : `${to} does not serve by default`;
  return stored.flatMap(({ resource, server, reading }): GateReason[] => {
    if (reading.state === 'absent') return [];
    if (reading.state === 'refused') {
      const detail = reading.isForbidden
        ? `not allowed to list ${resource}, which ${servedBy}`
        : `${resource}, which ${servedBy}, could not be listed at ${server}: ${reading.why}`;
      const next = reading.isForbidden
        ? askForRight(`list ${resource}`)
        : 'Try again; `straddle status` shows how the servers are.';
      return [unknown('stored-objects', { detail, resources: [resource], next })];
    }
    const [first] = reading.items;
    if (!first && reading.isComplete) return [];
    if (!first) {
      // A server may send a page without objects and say that there are more.
      const detail = `${resource}, which ${servedBy}, was not listed to its end at ${server}`;
      return [unknown('stored-objects', { detail, resources: [resource], next: 'Try again.' })];
    }
    return [
      closed('stored-objects', {
        detail: `${countText(reading)} of ${resource}, which ${servedBy}, such as ${placeOf(first)}`,
        resources: [resource],
        next: `Find them with \`kubectl get ${resource} --all-namespaces\`, save what is needed (-o yaml), and delete them while a newer server serves them.`,
      }),
    ];
  });
}

function countText({ items, isComplete, remaining }: ReadList): string {
  const count = items.length + (remaining ?? 0);
  const isExact = isComplete || remaining !== undefined;
  return `${isExact ? '' : 'at least '}${count} ${count === 1 ? 'object' : 'objects'}`;
}

function placeOf(object: JsonObject): string {
  const { namespace, name } = objectMember(object, 'metadata');
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${String(name)}` : String(name);
}

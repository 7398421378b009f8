import { apiPath } from '../../../kube/gvr.js';
import { Asker } from '../ask.js';
import type { CheckInput } from '../checks/check-line.js';
import { type InspectOptions, inspect } from '../inspection.js';
import { type InspectedSurface, readSurfaces } from '../surfaces.js';
import { boundedList, type ListReading } from './bounded-list.js';
import { type GateFacts, type GateReport, type GateWanted, gateReport } from './gate-report.js';
import { type LoadShipped, planRollback } from './rollback.js';
import { MIGRATIONS, STORAGE_VERSIONS } from './storage-reasons.js';
import { countStored } from './stored-objects.js';

export interface GateOptions extends InspectOptions {
  readonly wanted: GateWanted;
  readonly frontProxy: CheckInput['frontProxy'];
  /** `--to`, for a rollback. */
  readonly to: string | undefined;
  readonly load: LoadShipped;
}

const PAGE_ITEMS = 500;
const PAGES_MAX = 4;

/** Reads what the gate depends on and judges it. Rejects only if the URL gives no usable reply. */
export async function inspectGate(options: GateOptions): Promise<GateReport> {
  const { wanted, frontProxy } = options;
  const inspection = await inspect(options);
  // Servers that did not answer a moment ago would only cost their timeout again.
  const reached = inspection.servers.filter(({ readings }) => readings.some((each) => each.unreachable === undefined));
  const { surfaces, silent } = await readSurfaces(
    reached.map(({ server }) => server),
    options,
  );
  const [migrations, storageVersions, rollback] = await Promise.all([
    listAnywhere(MIGRATIONS, surfaces, options),
    listAnywhere(STORAGE_VERSIONS, surfaces, options),
    wanted.for === 'rollback' ? readRollback(inspection.servers, surfaces, options) : undefined,
  ]);
  return gateReport({ wanted, frontProxy, inspection, surfaces, silent, migrations, storageVersions, rollback });
}

async function readRollback(
  servers: Parameters<typeof planRollback>[0]['servers'],
  surfaces: readonly InspectedSurface[],
  options: GateOptions,
): Promise<NonNullable<GateFacts['rollback']>> {
  const plan = await planRollback({ servers, surfaces, to: options.to, load: options.load });
  return { plan, stored: 'lost' in plan ? await countStored(plan.lost, surfaces, options) : [] };
}

/** Lists a resource at a server that serves it, in whichever version. */
async function listAnywhere(
  { group, resource }: { readonly group: string; readonly resource: string },
  surfaces: readonly InspectedSurface[],
  { credentials, nowMs, timeoutMs }: GateOptions,
): Promise<ListReading> {
  for (const { address, local } of surfaces) {
    for (const key of local.resources.keys()) {
      const [ofGroup, version = '', ofResource] = key.split('/');
      if (ofGroup !== group || ofResource !== resource) continue;
      const asker = new Asker({ url: `https://${address}`, credentials, nowMs, timeoutMs });
      try {
        const path = `${apiPath(group, version)}/${resource}`;
        return await boundedList(asker, { path, pageItems: PAGE_ITEMS, pagesMax: PAGES_MAX });
      } finally {
        asker.close();
      }
    }
  }
  return { state: 'absent' };
}

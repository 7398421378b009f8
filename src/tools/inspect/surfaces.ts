import { systemClock } from '../../base/clock.js';
import { eachBounded } from '../../base/each-bounded.js';
import type { Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { AGGREGATED_V2 } from '../../kube/accept.js';
import { parseAggregated } from '../../kube/discovery-documents.js';
import { isObject } from '../../kube/json.js';
import type { Surface } from '../../kube/surface.js';
import { buildSurface } from '../../proxy/peers/surface-documents.js';
import { SurfaceReader } from '../../proxy/peers/surface-reader.js';
import { Asker, type AskerOptions, NoAnswer } from './ask.js';
import type { ListedServer } from './servers.js';

/** The surface of one server, without and with its peers. */
export interface InspectedSurface {
  readonly name: string;
  readonly address: string;
  /** The local view. */
  readonly local: Surface;
  /** Merged discovery; undefined if the server has no aggregated discovery. */
  readonly merged: Surface | undefined;
}

/** A server whose surface could not be read. */
export interface SilentServer {
  readonly name: string;
  readonly why: string;
}

type SurfaceOptions = Pick<AskerOptions, 'credentials' | 'nowMs'>;

const READ_TIMEOUT_MS = 20_000;
const SERVERS_AT_ONCE_MAX = 8;

/** Reads the surfaces of servers. Resolves also when none can be read. */
export async function readSurfaces(
  servers: readonly ListedServer[],
  options: SurfaceOptions,
): Promise<{ readonly surfaces: readonly InspectedSurface[]; readonly silent: readonly SilentServer[] }> {
  const read = await eachBounded(servers, SERVERS_AT_ONCE_MAX, (server) => readServerSurface(server, options));
  return { surfaces: read.filter((each) => 'local' in each), silent: read.filter((each) => 'why' in each) };
}

/**
 * Reads from the first address that replies; a Straddle passes on the local view of the API server.
 * Clients see the view of the Straddle if there is one, so its addresses, the last for peers, are tried first.
 */
async function readServerSurface(
  { name, endpoints }: ListedServer,
  { credentials, nowMs }: SurfaceOptions,
): Promise<InspectedSurface | SilentServer> {
  const reasons: string[] = [];
  for (const { address } of [...endpoints].reverse()) {
    const asker = new Asker({ url: `https://${address}`, credentials, nowMs });
    try {
      const reader = new SurfaceReader({
        fetch: async (path, headers) => replyOf(asker, path, headerValue(headers, 'accept')),
        clock: systemClock,
        timeoutMs: READ_TIMEOUT_MS,
      });
      const local = await reader.read();
      return { name, address, local, merged: await readMerged(asker) };
    } catch (error) {
      reasons.push(`${address}: ${(error as Error).message}`);
    } finally {
      asker.close();
    }
  }
  return { name, why: reasons.join('; ') || 'its address is not known; give it with --server' };
}

async function replyOf(asker: Asker, path: string, accept: string | undefined): Promise<Reply> {
  const { status, text, etag } = await asker.get(path, accept);
  return { status, headers: etag === undefined ? [] : ['etag', etag], body: Buffer.from(text) };
}

async function readMerged(asker: Asker): Promise<Surface | undefined> {
  try {
    const [core, groups] = await Promise.all(
      ['/api', '/apis'].map(async (path) => {
        const { text } = await asker.get(path, AGGREGATED_V2);
        const document: unknown = JSON.parse(text);
        return isObject(document) ? parseAggregated(document, path) : [];
      }),
    );
    return buildSurface({ core: core!, groups: groups!, kubernetesVersion: '' });
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    return undefined;
  }
}

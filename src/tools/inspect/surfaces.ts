import { systemClock } from '../../base/clock.js';
import type { Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { AGGREGATED_V2 } from '../../kube/accept.js';
import { parseAggregated } from '../../kube/discovery-documents.js';
import { isObject } from '../../kube/json.js';
import type { Surface } from '../../kube/surface.js';
import { buildSurface } from '../../proxy/peers/surface-documents.js';
import { SurfaceReader } from '../../proxy/peers/surface-reader.js';
import { Asker, type Credentials, NoAnswer } from './ask.js';
import type { ListedServer } from './servers.js';

/** What one server serves by itself, and what its clients are shown. */
export interface InspectedSurface {
  readonly name: string;
  readonly address: string;
  /** Its own view. */
  readonly local: Surface;
  /** With what its peers serve; undefined where it knows no aggregated discovery. */
  readonly merged: Surface | undefined;
}

/** A server whose surface could not be read. */
export interface SilentServer {
  readonly name: string;
  readonly why: string;
}

export interface SurfaceOptions {
  readonly credentials: Credentials;
  readonly nowMs: () => number;
}

const READ_TIMEOUT_MS = 20_000;

/**
 * From whichever of its addresses answers; a Straddle passes on the API server's own view. What clients meet is the
 * Straddle's view where there is one, so those addresses, which come last for peers, come first here.
 */
export async function readServerSurface(
  server: ListedServer,
  options: SurfaceOptions,
): Promise<InspectedSurface | SilentServer> {
  const { name, endpoints } = server;
  const { credentials, nowMs } = options;
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

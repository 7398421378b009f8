import { findServers, type InspectOptions } from './inspection.js';
import type { ListedServer, ServerEndpoint } from './servers.js';

const ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}$/;

/** The servers that were meant. */
export interface NamedServers {
  readonly servers: readonly ListedServer[];
  readonly notes: readonly string[];
}

/**
 * Returns the servers that are meant by names or addresses, all for none. Addresses need no API: they are taken as given if the
 * servers cannot be found.
 */
export async function namedServers(only: readonly string[], options: InspectOptions): Promise<NamedServers> {
  const addresses = only.filter((each) => ADDRESS.test(each));
  try {
    const { facts, servers } = await findServers(options);
    const chosen = only.flatMap((each) => servers.find((server) => isMeant(server, each)) ?? unlisted(each) ?? []);
    if (chosen.length === only.length) {
      return { servers: only.length === 0 ? servers : [...new Set(chosen)], notes: facts.notes };
    }
    const unknown = only.filter((each) => !servers.some((server) => isMeant(server, each)) && !unlisted(each));
    const names = servers.map(({ name }) => name).join(', ');
    throw new Error(`No server is called ${unknown.join(', ')}; the cluster has ${names}.`);
  } catch (error) {
    if (only.length === 0 || addresses.length < only.length) throw error;
    return {
      servers: addresses.flatMap((each) => unlisted(each) ?? []),
      notes: [`only the given addresses were asked: ${(error as Error).message}`],
    };
  }
}

function isMeant({ name, endpoints }: ListedServer, wanted: string): boolean {
  return name === wanted.toLowerCase() || endpoints.some(({ address }) => address === wanted);
}

function unlisted(address: string): ListedServer | undefined {
  if (!ADDRESS.test(address)) return undefined;
  const endpoint: ServerEndpoint = { kind: 'straddle', address, isReserve: false, lease: undefined, pod: undefined };
  return { name: address, endpoints: [endpoint], leases: [] };
}

import { type CheckReport, checkReport } from './check-report.js';
import { type CheckInput, protectorOf } from './checks/check-line.js';
import { type InspectOptions, inspect } from './inspection.js';
import { protectionOf } from './protection.js';
import { readSurfaces } from './surfaces.js';
import { type LocalClients, readWays } from './traffic.js';

const NO_CLIENTS: LocalClients = { kubeconfigs: [], areGiven: false, hostname: '', addresses: [] };

export async function inspectCheck(
  options: InspectOptions,
  frontProxy: CheckInput['frontProxy'],
  localClients: LocalClients = NO_CLIENTS,
): Promise<CheckReport> {
  const inspection = await inspect(options);
  const ways = await readWays(inspection, options, localClients);
  // Only for kube-apiservers with the native proxy: the metrics of a Straddle have its peers.
  const isNative = inspection.servers.some((each) => {
    const protector = protectorOf(each);
    return protector && protectionOf(protector).kind === 'kube-apiserver' && protectionOf(protector).active;
  });
  const servers = isNative ? inspection.servers.map(({ server }) => server) : [];
  const { surfaces } = await readSurfaces(servers, options);
  return checkReport({ inspection, surfaces: new Map(surfaces.map((each) => [each.name, each])), ways, frontProxy });
}

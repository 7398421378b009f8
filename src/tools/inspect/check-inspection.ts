import { type CheckReport, checkReport } from './check-report.js';
import { type CheckInput, protectorOf } from './checks/check-line.js';
import { type InspectOptions, inspect } from './inspection.js';
import { protectionOf } from './protection.js';
import { readSurfaces } from './surfaces.js';

export async function inspectCheck(
  options: InspectOptions,
  frontProxy: CheckInput['frontProxy'],
): Promise<CheckReport> {
  const inspection = await inspect(options);
  // Only for kube-apiservers with the native proxy: the metrics of a Straddle have its peers.
  const isNative = inspection.servers.some((each) => {
    const protector = protectorOf(each);
    return protector && protectionOf(protector).kind === 'kube-apiserver' && protectionOf(protector).active;
  });
  const servers = isNative ? inspection.servers.map(({ server }) => server) : [];
  const { surfaces } = await readSurfaces(servers, options);
  return checkReport({ inspection, surfaces: new Map(surfaces.map((each) => [each.name, each])), frontProxy });
}

import { type CheckReport, checkReport } from './check-report.js';
import { type CheckInput, protectorOf } from './checks/check-line.js';
import { eachBounded } from './each-bounded.js';
import { type InspectOptions, inspect } from './inspection.js';
import { protectionOf } from './protection.js';
import { type InspectedSurface, readServerSurface } from './surfaces.js';

const SERVERS_AT_ONCE_MAX = 8;

export async function inspectCheck(
  options: InspectOptions,
  frontProxy: CheckInput['frontProxy'],
): Promise<CheckReport> {
  const inspection = await inspect(options);
  // Only of kube-apiservers with the native proxy: a Straddle tells whom it sees.
  const isNative = inspection.servers.some((each) => {
    const protector = protectorOf(each);
    return protector && protectionOf(protector).kind === 'kube-apiserver' && protectionOf(protector).active;
  });
  const read = isNative
    ? await eachBounded(inspection.servers, SERVERS_AT_ONCE_MAX, ({ server }) => readServerSurface(server, options))
    : [];
  const surfaces = new Map(
    read.filter((each): each is InspectedSurface => 'local' in each).map((each) => [each.name, each]),
  );
  return checkReport({ inspection, surfaces, frontProxy });
}

/** `npm run test:deploy`: what is in deploy/, and the systemd unit, read by the programs they are for. */

import { installedProgram } from '../real/rig/debian-program.js';
import { within } from '../real/rig/eventually.js';
import type { DeployCase } from './deploy-case.js';
import { haproxyCases } from './haproxy.js';
import { prometheusCases } from './prometheus.js';
import { systemdCases } from './systemd.js';

const USAGE = `Usage: npm run test:deploy -- [<program> …]

Checks the Prometheus alerts with promtool, the HAProxy configuration with HAProxy, and the systemd unit with systemd-analyze.
Installs the Debian packages prometheus, haproxy and systemd where these programs are missing, which takes root.

  <program>    only cases whose names begin with this: promtool, haproxy, systemd-analyze
`;

/** HAProxy has three processes of Straddle behind it, which start on a busy machine. */
const CASE_TIMEOUT_MS = 180_000;

const progress = (line: string) => void process.stdout.write(`${line}\n`);

function casesOf(wanted: (program: string) => boolean): DeployCase[] {
  const cases = [
    { program: 'promtool', debianPackage: 'prometheus', make: prometheusCases },
    { program: 'systemd-analyze', debianPackage: 'systemd', make: systemdCases },
    { program: 'haproxy', debianPackage: 'haproxy', make: haproxyCases },
  ];
  return cases
    .filter(({ program }) => wanted(program))
    .flatMap(({ program, debianPackage, make }) => make(installedProgram(program, debianPackage, progress)));
}

async function runCase({ name, run }: DeployCase): Promise<boolean> {
  const startedMs = Date.now();
  let remark: string | undefined;
  let failure: Error | undefined;
  try {
    remark = await within(name, CASE_TIMEOUT_MS, run());
  } catch (error) {
    failure = error as Error;
  }
  const took = `${((Date.now() - startedMs) / 1000).toFixed(1)}s`;
  progress(`${failure ? 'FAIL' : 'ok  '} ${name}${remark === undefined ? '' : ` (${remark})`}  ${took}`);
  if (failure) progress(failure.message.replace(/^/gm, '        '));
  return failure === undefined;
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const chosen = casesOf((program) => args.length === 0 || args.includes(program));
  if (chosen.length === 0) {
    process.stderr.write(`no case of ${args.join(', ')}\n\n${USAGE}`);
    return 2;
  }
  let passed = 0;
  for (const each of chosen) if (await runCase(each)) passed += 1;
  const failed = chosen.length - passed;
  progress(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

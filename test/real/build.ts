/** `npm run real:build`: the real servers and HTTP/2 clients as Go modules, built once into a cache outside the checkout. */
import { parseArgs } from 'node:util';
import { BENCH_SERVERS } from '../../bench/bench-servers.js';
import { kubeadmBinaries } from '../kubeadm/kubeadm-binaries.js';
import { type Binary, binaryPath, cacheDir, ensureBinaries, INTEROP_BINARIES, planeBinaries } from './rig/binaries.js';
import { DEFAULT_SERVERS, parseServers, ServersError, type ServerVersions } from './rig/chosen-servers.js';
import { SCENARIOS } from './scenarios/index.js';

/** What `npm run test:real`, `test:interop`, `test:kubeadm` and `bench` run. */
function allFor(servers: ServerVersions): string[] {
  return binariesFor(servers).map(({ name }) => name);
}

function binariesFor(servers: ServerVersions): Binary[] {
  const all = [
    ...planeBinaries(servers),
    ...SCENARIOS.flatMap((scenario) => scenario.programs?.() ?? []),
    ...INTEROP_BINARIES,
    ...kubeadmBinaries(),
    ...planeBinaries(BENCH_SERVERS),
  ];
  return [...new Map(all.map((binary) => [binary.name, binary])).values()];
}

const USAGE = `Usage: npm run real:build [-- --servers=<a>,<b>,<c>]

Builds what is missing of: ${allFor(parseServers(DEFAULT_SERVERS)).join(', ')}

  --servers=<a>,<b>,<c>  versions of the servers of \`npm run test:real\` (default: ${DEFAULT_SERVERS})

A program found in the folder $STRADDLE_REAL_BIN is taken from there. What is missing is built into
\${XDG_CACHE_HOME:-~/.cache}/straddle/real-bin.

Examples:
  npm run real:build
  npm run real:build -- --servers=1.33,1.37,1.37
`;

function servers(args: readonly string[]): ServerVersions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: { servers: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  return values.help ? 'help' : parseServers(values.servers ?? DEFAULT_SERVERS);
}

async function main(args: readonly string[]): Promise<number> {
  let asked: ServerVersions | 'help';
  try {
    asked = servers(args);
  } catch (error) {
    const { message } = error as Error;
    process.stderr.write(error instanceof ServersError ? `${message}\n` : `${message}\n\n${USAGE}`);
    return 2;
  }
  if (asked === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  try {
    const binaries = binariesFor(asked);
    await ensureBinaries((line) => process.stdout.write(`${line}\n`), binaries);
    process.stdout.write(binaries.map(({ name }) => `${binaryPath(name)}\n`).join(''));
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n(cache folder: ${cacheDir()})\n`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));

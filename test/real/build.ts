/** `npm run real:build`: the real servers and HTTP/2 clients as Go modules, built once into a cache outside the checkout. */
import { BINARIES, binaryPath, cacheDir, ensureBinaries, INTEROP_BINARIES } from './rig/binaries.js';

const ALL = [...BINARIES, ...INTEROP_BINARIES];

const USAGE = `Usage: npm run real:build [-- --help]

Builds what is missing of: ${ALL.map((binary) => binary.name).join(', ')}

A program found in the folder $STRADDLE_REAL_BIN is taken from there. What is missing is built into
\${XDG_CACHE_HOME:-~/.cache}/straddle/real-bin.

Example:
  npm run real:build
`;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (args.length > 0) {
    process.stderr.write(`unknown argument ${args.join(', ')}\n\n${USAGE}`);
    return 2;
  }
  try {
    await ensureBinaries((line) => process.stdout.write(`${line}\n`), ALL);
    process.stdout.write(ALL.map((binary) => `${binaryPath(binary.name)}\n`).join(''));
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n(cache folder: ${cacheDir()})\n`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));

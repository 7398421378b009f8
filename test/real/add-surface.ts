/** `npm run surface:add -- 1.38`: a Kubernetes version that ships with Straddle, from a real server of that version. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { captureShippedSurface } from './capture-surface.js';
import { ensureBinaries, serverBinaries } from './rig/binaries.js';
import { pinVersion } from './rig/pin-version.js';
import { type KubeVersion, pinnedRelease } from './rig/pinned-versions.js';
import { stopEverything } from './rig/process.js';

/** Facts of the types of all versions together, made anew because of the version that was added. */
const RECORDERS = ['record-go-shapes.ts', 'record-messages.ts'];

const USAGE = `Usage: npm run surface:add -- <version>…

Adds Kubernetes versions to those that ship with Straddle, or captures them anew. A version is a minor one (1.38: the
release that is pinned already, else the newest that the Go module proxy gives) or a release (1.38.2).

For each: test/real/modules/kube-1.NN is made (go.mod, go.sum), etcd and kube-apiserver are built, the server is started
twice (default flags, everything on), and what it serves is written to src/apiserver/surfaces/data/1.NN.json. Then the
facts that all versions share are recorded again. CONTRIBUTING.md says what is left to do by hand.

Examples:
  npm run surface:add -- 1.38
  npm run surface:add -- 1.36.5 1.37.2
`;

function release(wanted: string, say: (line: string) => void): KubeVersion {
  return pinnedRelease(wanted) ?? pinVersion(wanted, say);
}

async function main(args: readonly string[]): Promise<number> {
  const isHelp = args.includes('--help') || args.includes('-h');
  if (isHelp || args.length === 0) {
    process[isHelp ? 'stdout' : 'stderr'].write(USAGE);
    return isHelp ? 0 : 2;
  }
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    for (const wanted of args) {
      const version = release(wanted, say);
      await ensureBinaries(say, serverBinaries(version));
      const bytes = await captureShippedSurface(version);
      say(`captured ${version}: ${bytes} bytes`);
    }
    for (const name of RECORDERS) {
      const script = fileURLToPath(new URL(name, import.meta.url));
      execFileSync(process.execPath, [...process.execArgv, script], { stdio: 'inherit' });
      say(`recorded with ${name}`);
    }
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  } finally {
    await stopEverything();
  }
}

process.exitCode = await main(process.argv.slice(2));

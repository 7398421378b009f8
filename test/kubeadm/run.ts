/** `npm run test:kubeadm`: an upgrade and a rollback of a control plane that kubeadm has made, with Straddle and, for contrast, without. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBinaries } from '../real/rig/binaries.js';
import { requireProgram } from '../real/rig/debian-program.js';
import { ensureBuilt } from '../real/rig/ensure-built.js';
import { within } from '../real/rig/eventually.js';
import { requireNamespaces, stopEverything } from '../real/rig/process.js';
import { runsFromBuild } from '../real/rig/program.js';
import { newerApi } from './clients/newer-object.js';
import { KubeadmCluster } from './cluster/kubeadm-cluster.js';
import { makeBridge } from './cluster/machine.js';
import { kubeadmBinaries, NEWER, OLDER } from './kubeadm-binaries.js';
import { makeNodeImages } from './real-kubelet/node-images.js';
import { runOnKubelet } from './real-kubelet/run-on-kubelet.js';
import {
  checked,
  grantRights,
  guideFollowed,
  installEverywhere,
  rolledBack,
  uninstallEverywhere,
  wrongAuthority,
} from './steps/install-steps.js';
import { RunContext, type Step } from './steps/run-context.js';
import { controllersUnharmed, rollback, upgrade } from './steps/upgrade-steps.js';
import { informersComplete, podsSteady, readsAnswered, writesKept } from './steps/verdict-steps.js';
import { contrast } from './steps/without-straddle.js';

/** Debian's package by program. */
const PROGRAMS = new Map([
  ['curl', 'curl'],
  ['haproxy', 'haproxy'],
  ['ip', 'iproute2'],
]);
const CONTAINER_PROGRAMS = new Map(['buildah', 'catatonit', 'containerd', 'runc'].map((name) => [name, name]));
const named = (programs: ReadonlyMap<string, string>): string => [...programs.values()].join(', ');

const USAGE = `Usage: npm run test:kubeadm [-- --kubelet] [--keep] [--verbose]

Brings up a control plane of three nodes with kubeadm ${OLDER.slice(1)}, puts a Straddle on each, upgrades it to ${NEWER.slice(1)} and
back under load, and uninstalls Straddle. Needs Linux, root, and Debian's ${named(PROGRAMS)}.

  --kubelet   in place of that, one node with a real kubelet, whose static pods are containers: install, upgrade, uninstall.
              Needs Debian's ${named(CONTAINER_PROGRAMS)} too, and the network for the image of Straddle
  --keep      keep the folder with logs and data; it is kept anyway when something fails
  --verbose   show where a failure came from
`;

const STEPS: readonly Step[] = [
  grantRights,
  rolledBack,
  wrongAuthority,
  installEverywhere,
  checked,
  upgrade,
  rollback,
  uninstallEverywhere,
  readsAnswered,
  writesKept,
  informersComplete,
  controllersUnharmed,
  podsSteady,
  guideFollowed,
  contrast,
];
/** Steps that only look at what the others have done: the run goes on after their failure. */
const VERDICTS: ReadonlySet<Step> = new Set([
  checked,
  guideFollowed,
  readsAnswered,
  writesKept,
  informersComplete,
  controllersUnharmed,
  podsSteady,
]);
/** Bound on the whole run. */
const RUN_TIMEOUT_MS = 15 * 60_000;
/** Set for the run inside its network namespace: the folder of logs, data and images. */
const INSIDE = 'STRADDLE_KUBEADM_INSIDE';
const IMAGES = 'images';
const runStartedMs = Date.now();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface RunOptions {
  readonly kubelet: boolean;
  readonly keep: boolean;
  readonly verbose: boolean;
}

/**
 * Runs this file again in a network namespace of its own: bridge, HAProxy and clients are there, and nothing of them is left
 * whatever ends it. Resolves to the exit code.
 */
function runInside(dir: string, args: readonly string[]): Promise<number> {
  const program = [process.execPath, '--import', 'tsx', new URL(import.meta.url).pathname, ...args];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'unshare', '--net', '--', ...program], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: dir },
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  // The terminal sends it to both.
  process.on('SIGINT', () => {});
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

/** What needs the network of the machine. */
async function prepare(dir: string, kubelet: boolean): Promise<void> {
  requireNamespaces();
  const programs = [...PROGRAMS, ...(kubelet ? CONTAINER_PROGRAMS : [])];
  for (const [program, debianPackage] of programs) requireProgram(program, debianPackage);
  await ensureBinaries(say, kubeadmBinaries());
  if (runsFromBuild()) ensureBuilt(say);
  if (!kubelet) return;
  const startedMs = Date.now();
  mkdirSync(join(dir, IMAGES));
  await makeNodeImages(join(dir, IMAGES), [OLDER, NEWER]);
  say(`images for a node are made after ${((Date.now() - startedMs) / 1000).toFixed(0)} s`);
}

async function counted(name: string, verbose: boolean, work: () => Promise<void>): Promise<boolean> {
  const startedMs = Date.now();
  const leftMs = Math.max(1, RUN_TIMEOUT_MS - (startedMs - runStartedMs));
  let failure: Error | undefined;
  try {
    await within(name, leftMs, work());
  } catch (error) {
    failure = error as Error;
  }
  say(`${failure ? 'FAIL' : 'ok  '} ${name}  ${((Date.now() - startedMs) / 1000).toFixed(1)}s`);
  if (failure) say(((verbose ? failure.stack : undefined) ?? failure.message).replace(/^/gm, '        '));
  return failure === undefined;
}

/** Counts steps; returns whether a step was good. */
class Tally {
  passed = 0;
  failed = 0;

  count(isGood: boolean): boolean {
    if (isGood) this.passed += 1;
    else this.failed += 1;
    return isGood;
  }
}

async function run(dir: string, { kubelet, keep, verbose }: RunOptions): Promise<number> {
  const tally = new Tally();
  await makeBridge();
  if (kubelet) {
    await runOnKubelet({
      dir,
      images: join(dir, IMAGES),
      say,
      counted: async (name, work) => tally.count(await counted(name, verbose, work)),
    });
  } else await runSteps(dir, tally, verbose);
  await stopEverything();
  const { passed, failed } = tally;
  if (failed > 0 || keep) say(`logs and data: ${dir}`);
  else rmSync(dir, { recursive: true, force: true });
  const seconds = Math.round((Date.now() - runStartedMs) / 1000);
  say(`${passed} passed, ${failed} failed, in ${seconds} s`);
  return failed === 0 ? 0 : 1;
}

async function runSteps(dir: string, tally: Tally, verbose: boolean): Promise<void> {
  const kind = newerApi(OLDER, NEWER);
  let context: RunContext | undefined;
  const bringUp = async () => {
    const cluster = await KubeadmCluster.create(dir, OLDER, (line) => say(`  ${line}`));
    context = new RunContext({ older: OLDER, newer: NEWER, kind, cluster, say });
  };
  const made = `three nodes by kubeadm ${OLDER.slice(1)}, with etcd on each`;
  let goesOn = tally.count(await counted(made, verbose, bringUp));
  let left = 0;
  for (const step of STEPS) {
    if (!goesOn) left += 1;
    else if (!tally.count(await counted(step.name, verbose, () => step.run(context!)))) goesOn = VERDICTS.has(step);
  }
  if (left > 0) say(`${left} steps could not be taken after that`);
}

async function main(args: string[]): Promise<number> {
  let chosen: RunOptions & { readonly help: boolean };
  try {
    const { values } = parseArgs({
      args,
      options: {
        kubelet: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        verbose: { type: 'boolean', short: 'v', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    chosen = values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (chosen.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const inside = process.env[INSIDE];
  if (inside !== undefined) return run(inside, chosen);
  const dir = mkdtempSync(join(tmpdir(), 'straddle-kubeadm-'));
  try {
    await prepare(dir, chosen.kubelet);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  return runInside(dir, args);
}

if (process.env[INSIDE] !== undefined) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void stopEverything().then(() => process.exit(130)));
  }
}
let code: number;
try {
  code = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  code = 1;
}
await stopEverything();
process.exit(code);

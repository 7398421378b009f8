/** `npm run real:up`: a control plane of real kube-apiservers with a Straddle before each, until Ctrl-C. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBinaries } from './rig/binaries.js';
import { ControlPlane, layoutOf } from './rig/control-plane.js';
import { ensureBuilt } from './rig/ensure-built.js';
import { requireNamespaces, stopEverything } from './rig/process.js';
import { isSkew, SKEWS, type Skew } from './rig/skew.js';

const USAGE = `Usage: npm run real:up -- [--dir <folder>] [--skew ${Object.keys(SKEWS).join('|')}]

Starts etcd, kube-apiservers A (1.35.8), B and C (1.36.4) and a Straddle before each, writes <folder>/kubeconfig
and stays up until Ctrl-C. Needs Linux and root (each server gets its own host name).

  --dir <folder>   where kubeconfig, certificates, logs and data go (default: a new temporary folder)
  --skew <name>    how A differs:
${Object.entries(SKEWS)
  .map(([name, { text }]) => `                     ${name.padEnd(8)} ${text}`)
  .join('\n')}

Examples:
  npm run real:up
  npm run real:up -- --dir .straddle/rig --skew batch
`;

class UsageError extends Error {}

function options(args: string[]): { help: boolean; dir: string | undefined; skew: Skew } {
  let values: { dir?: string | undefined; skew?: string | undefined; help?: boolean | undefined };
  try {
    values = parseArgs({
      args,
      options: { dir: { type: 'string' }, skew: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const skew = values.skew ?? 'default';
  if (!isSkew(skew)) throw new UsageError(`unknown --skew ${skew}; known are ${Object.keys(SKEWS).join(', ')}`);
  return { help: values.help === true, dir: values.dir, skew };
}

function hints(plane: ControlPlane, skew: Skew): string {
  const kubectl = `kubectl --kubeconfig ${plane.kubeconfig}`;
  const trial = {
    default: [
      `${kubectl} --context raw-a get podgroups.scheduling.k8s.io          # A alone does not know it`,
      `${kubectl} --context straddle-a get podgroups.scheduling.k8s.io     # through A's Straddle`,
    ],
    batch: [
      `${kubectl} --context raw-a get jobs                                 # A alone does not know it`,
      `${kubectl} --context straddle-a create job hello --image=busybox -- true`,
      `${kubectl} --context straddle-a get jobs`,
    ],
    wide: [
      `${kubectl} --context raw-a get --raw /api/v1 | grep pods/resize     # nothing: A emulates 1.32`,
      `${kubectl} --context straddle-a get --raw /apis/resource.k8s.io/v1/deviceclasses`,
    ],
  }[skew];
  return [
    '',
    `Everything is up. ${SKEWS[skew].text}.`,
    `Contexts: ${plane.all.map(({ name }) => `straddle-${name} raw-${name}`).join(' ')}; users: admin (default), alice (no rights).`,
    `Logs and certificates: ${plane.dir}`,
    '',
    'Try:',
    ...trial.map((line) => `  ${line}`),
    `  ${kubectl} --context straddle-a --user alice get pods               # 403 that names alice`,
    `  kill ${plane.a.kube.process?.pid}; ${kubectl} --context straddle-a get nodes   # A's kube-apiserver goes, nobody notices`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

async function main(args: string[]): Promise<number> {
  const { help, dir, skew } = options(args);
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  requireNamespaces();
  await ensureBinaries(say);
  ensureBuilt(say);
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  const started = start(dir === undefined ? mkdtempSync(join(tmpdir(), 'straddle-rig-')) : resolve(dir), skew, say);
  // A signal during the start ends it, too.
  const plane = await Promise.race([started, interrupted]);
  if (plane) {
    process.stdout.write(hints(plane, skew));
    await interrupted;
    say('stopping …');
    await plane.stop();
  }
  return 0;
}

async function start(dir: string, skew: Skew, say: (line: string) => void): Promise<ControlPlane> {
  const plane = await ControlPlane.create(dir, say);
  await plane.arrange(layoutOf(skew));
  return plane;
}

let code: number;
try {
  code = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `${(error as Error).message}\n`);
  code = error instanceof UsageError ? 2 : 1;
}
await stopEverything();
process.exit(code);

/** `npm run real:up`: a control plane of real kube-apiservers with a Straddle before each, until Ctrl-C. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBinaries, planeBinaries } from './rig/binaries.js';
import {
  chooseServers,
  DEFAULT_SERVERS,
  parseServers,
  ServersError,
  type ServerVersions,
} from './rig/chosen-servers.js';
import { ControlPlane, layoutOf } from './rig/control-plane.js';
import { ensureBuilt } from './rig/ensure-built.js';
import { requireNamespaces, stopEverything } from './rig/process.js';
import { isSkew, SKEWS, type Skew, skewText } from './rig/skew.js';
import { newerApiOf } from './rig/version-facts.js';

const DEFAULTS = parseServers(DEFAULT_SERVERS);

const USAGE = `Usage: npm run real:up -- [--servers <a>,<b>,<c>] [--dir <folder>] [--skew ${SKEWS.join('|')}]

Starts etcd, kube-apiservers A, B and C and a Straddle before each, writes <folder>/kubeconfig and stays up until Ctrl-C.
Needs Linux and root (each server gets its own host name).

  --servers <a>,<b>,<c>  versions of the servers, each a minor version or a pinned release; A is the older one
                         (default: ${DEFAULT_SERVERS})
  --dir <folder>         where kubeconfig, certificates, logs and data go (default: a new temporary folder)
  --skew <name>          how A differs; with the default servers:
${SKEWS.map((skew) => `                           ${skew.padEnd(8)} ${skewText(skew, DEFAULTS)}`).join('\n')}

Examples:
  npm run real:up
  npm run real:up -- --servers 1.33,1.37,1.37
  npm run real:up -- --dir .straddle/rig --skew batch
`;

class UsageError extends Error {}

interface UpOptions {
  readonly help: boolean;
  readonly servers: ServerVersions;
  readonly dir: string | undefined;
  readonly skew: Skew;
}

function options(args: string[]): UpOptions {
  let values: {
    servers?: string | undefined;
    dir?: string | undefined;
    skew?: string | undefined;
    help?: boolean | undefined;
  };
  try {
    values = parseArgs({
      args,
      options: {
        servers: { type: 'string' },
        dir: { type: 'string' },
        skew: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const skew = values.skew ?? 'default';
  if (!isSkew(skew)) throw new UsageError(`unknown --skew ${skew}; known are ${SKEWS.join(', ')}`);
  const servers = parseServers(values.servers ?? DEFAULT_SERVERS);
  return { help: values.help === true, servers, dir: values.dir, skew };
}

function hints(plane: ControlPlane, skew: Skew, servers: ServerVersions): string {
  const kubectl = `kubectl --kubeconfig ${plane.kubeconfig}`;
  return [
    '',
    `Everything is up. ${skewText(skew, servers)}.`,
    `Contexts: ${plane.all.map(({ name }) => `straddle-${name} raw-${name}`).join(' ')}; users: admin (default), alice (no rights).`,
    `Logs and certificates: ${plane.dir}`,
    '',
    'Try:',
    ...trials(kubectl, skew, servers).map((line) => `  ${line}`),
    `  ${kubectl} --context straddle-a --user alice get pods               # 403 that names alice`,
    `  kill ${plane.a.kube.process?.pid}; ${kubectl} --context straddle-a get nodes   # A's kube-apiserver goes, nobody notices`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

function trials(kubectl: string, skew: Skew, servers: ServerVersions): string[] {
  const api = newerApiOf(servers);
  const resource = skew === 'batch' || api === undefined ? 'jobs' : `${api.resource}.${api.version}.${api.group}`;
  if (skew !== 'batch' && api === undefined) return [`${kubectl} --context straddle-a api-resources`];
  return [
    `${kubectl} --context raw-a get ${resource}   # A alone does not know it`,
    `${kubectl} --context straddle-a get ${resource}   # through A's Straddle`,
    ...(skew === 'batch' ? [`${kubectl} --context straddle-a create job hello --image=busybox -- true`] : []),
  ];
}

async function main(args: string[]): Promise<number> {
  const { help, servers, dir, skew } = options(args);
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  chooseServers(servers);
  requireNamespaces();
  await ensureBinaries(say, planeBinaries(servers));
  ensureBuilt(say);
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  const started = start(dir === undefined ? mkdtempSync(join(tmpdir(), 'straddle-rig-')) : resolve(dir), skew, say);
  // A signal during the start ends it, too.
  const plane = await Promise.race([started, interrupted]);
  if (plane) {
    process.stdout.write(hints(plane, skew, servers));
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
  code = error instanceof UsageError || error instanceof ServersError ? 2 : 1;
}
await stopEverything();
process.exit(code);

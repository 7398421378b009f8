import { lstatSync, unlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { createLogger } from '../base/logger.js';
import type { Colors } from '../base/terminal-colors.js';
import type { RunningControlPlane } from '../tools/plane/control-plane.js';
import {
  BALANCES,
  type Balance,
  type ControlPlaneOptions,
  defaultVersions,
  PLANE_DATA_DIR,
} from '../tools/plane/control-plane-options.js';
import { exampleText, firstSteps, shownSkew, versionsOf } from './first-steps.js';
import { isOnPath } from './on-path.js';
import { stderrColors, stdoutColors } from './stream-look.js';
import { type Surroundings, stopSignal } from './surroundings.js';
import { minorVersion } from './version-argument.js';

export type StartControlPlane = (options: ControlPlaneOptions) => Promise<RunningControlPlane>;

interface UpFlags {
  readonly versions?: readonly string[];
  readonly dataDir: string;
  readonly port: number;
  readonly balance: Balance;
  readonly proxy: boolean;
  readonly etcdServers: readonly string[];
  readonly runtimeConfig: readonly string[];
  readonly descriptionsFile: readonly string[];
  readonly upstream: readonly string[];
  readonly pkiDir: string;
  readonly rollCommand?: string;
}

export interface UpCommandOptions {
  readonly start: StartControlPlane;
  readonly exitWith: (code: number) => void;
}

const SERVERS_MAX = 9;
/** In the data directory: an object of a resource that only the newest server serves. */
const EXAMPLE_FILE = 'example.yaml';

const EXAMPLES = `
Several API servers of different Kubernetes versions on one store, each with the mixed version proxy, and a load balancer
before them, all on this machine. Ctrl-C stops everything; the next start goes on with the same data.

Examples:
  $ straddle up
  $ straddle up --versions=${shippedVersions().slice(-3).join(',')} --data-dir=./plane
  See what clients meet without the proxy:
  $ straddle up --no-proxy
  Upgrade it, from another terminal:
  $ straddle roll --to=${shippedVersions().at(-1)}
  Before real API servers, with the certificates that kubeadm made:
  $ straddle up --upstream=https://10.0.0.1:6443,https://10.0.0.2:6443 --pki-dir=/etc/kubernetes/pki
`;

export function addUpCommand(program: Command, surroundings: Surroundings, options: UpCommandOptions): void {
  program
    .command('up')
    .description('Run a mixed-version control plane on this machine')
    .addOption(
      new Option(
        '--versions <list>',
        `one server for each, oldest first or not; there are ${shippedVersions().join(', ')} (default: those of the last run, else ${defaultVersions().join(',')})`,
      ).argParser(versions),
    )
    .option('--data-dir <path>', 'store, certificates, logs and the kubeconfig', PLANE_DATA_DIR)
    .addOption(
      new Option('--port <number>', 'of the front door; servers take the following ones').argParser(port).default(7440),
    )
    .addOption(
      new Option('--balance <what>', 'what the front door deals out to the servers in turn')
        .choices(BALANCES)
        .default('request'),
    )
    .option('--no-proxy', 'without the mixed version proxy: what one server does not know is a 404 there')
    .addOption(
      new Option('--etcd-servers <urls>', 'store in etcd instead').argParser(list).default([], 'the embedded store'),
    )
    .addOption(
      new Option('--runtime-config <list>', 'versions to turn on or off, on servers that know them')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--descriptions-file <paths>',
        'files of `straddle surface capture --descriptions`, each for the servers of its version',
      )
        .argParser(list)
        .default([], 'descriptions of Straddle’s own'),
    )
    .addOption(
      new Option('--upstream <urls>', 'real API servers, each of which gets a sidecar, instead of our own')
        .argParser(urls)
        .default([], 'none'),
    )
    .option('--pki-dir <path>', 'certificates of the real API servers, as kubeadm names them', '/etc/kubernetes/pki')
    .option(
      '--roll-command <command>',
      'shell command with which `straddle roll` brings a real API server to another version; it is told STRADDLE_SERVER, STRADDLE_UPSTREAM and STRADDLE_VERSION',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: UpFlags) => options.exitWith(await up(flags, surroundings, options.start)));
}

async function up(flags: UpFlags, surroundings: Surroundings, start: StartControlPlane): Promise<number> {
  const colors = stderrColors(surroundings);
  const stop = stopSignal(surroundings, () => surroundings.exitNow(1));
  const { upstream, pkiDir, rollCommand, dataDir, descriptionsFile, ...rest } = flags;
  if (upstream.length > 0 && descriptionsFile.length > 0) {
    throw new Error(
      '--descriptions-file is for servers of Straddle’s own: --upstream servers have their descriptions.',
    );
  }
  const starting = start({
    ...rest,
    versions: flags.versions,
    controllers: true,
    restart: true,
    dataDir: resolve(dataDir),
    descriptionsFiles: descriptionsFile.map((file) => resolve(file)),
    upstream: upstream.length === 0 ? undefined : { urls: upstream, pkiDir: resolve(pkiDir), rollCommand },
    self: [...process.execArgv, process.argv[1]!],
    machine: surroundings,
    logger: createLogger({ level: 'warn', format: 'text', write: surroundings.stderr, nowMs: surroundings.nowMs }),
    progress: (sentence) => surroundings.stderr(`${colors.dim(sentence)}\n`),
    note: (sentence) => surroundings.stderr(`${colors.yellow(sentence)}\n`),
  });
  // A stop signal during the start takes effect after it, so that nothing is left running.
  const plane = await starting;
  if (!stop.signal.aborted) {
    surroundings.stdout(await screen(plane, flags, { colors: stdoutColors(surroundings), surroundings }));
  }
  await stop.first;
  surroundings.stderr(`${colors.dim('stopping')}\n`);
  await plane.close();
  return 0;
}

interface ScreenOptions {
  readonly colors: Colors;
  readonly surroundings: Surroundings;
}

async function screen(
  plane: RunningControlPlane,
  { proxy, upstream, dataDir, runtimeConfig }: UpFlags,
  { colors, surroundings }: ScreenOptions,
): Promise<string> {
  const isOwn = upstream.length === 0;
  const shown = isOwn ? await shownSkew(plane, runtimeConfig) : undefined;
  const exampleFile = join(resolve(dataDir), EXAMPLE_FILE);
  if (shown !== undefined) {
    unlinkIfLink(exampleFile);
    surroundings.writeFile(exampleFile, exampleText(shown));
  }
  const folder = process.cwd();
  const steps = firstSteps({
    kubeconfig: plane.kubeconfig,
    dataDir: resolve(dataDir),
    folder,
    newest: versionsOf(plane).at(-1)!,
    isOwn,
    proxy,
    shown,
    exampleFile,
    self: isOnPath('straddle', surroundings) ? 'straddle' : `node ${shortPath(process.argv[1] ?? 'bin/straddle.js')}`,
    hasKubectl: isOnPath('kubectl', surroundings),
    comment: colors.dim,
  });
  return `
${colors.bold(`A control plane is up${proxy ? '' : ', without the mixed version proxy'}.`)}

${table(plane)}

Try it in another terminal:

${steps}

Ctrl-C stops everything${isOwn ? '; the data stays' : ' but the API servers themselves'}.
`;
}

function table(plane: RunningControlPlane): string {
  const rows = [
    ['', 'version', 'address', 'process'],
    ['front door', '', plane.front, String(process.pid)],
    ...plane.servers.map(({ name, version, address, pid }) => [
      name,
      version,
      address,
      pid === undefined ? '' : `${pid}`,
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd())
    .join('\n');
}

/** A data directory of others, as in a checked-out repository, may have a link to any file of this user. */
function unlinkIfLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(path);
}

/** Returns a path as it is typed in the current folder. */
function shortPath(path: string): string {
  const below = relative(process.cwd(), resolve(path));
  return below.startsWith('..') ? resolve(path) : below;
}

function versions(text: string): string[] {
  const found = list(text);
  if (found.length === 0 || found.length > SERVERS_MAX) {
    throw new InvalidArgumentError(
      `Give one to ${SERVERS_MAX} minor versions, such as ${defaultVersions().join(',')}.`,
    );
  }
  return found.map(minorVersion);
}

function urls(text: string, before: readonly string[] = []): string[] {
  const found = list(text);
  for (const each of found) {
    const url = URL.canParse(each) ? new URL(each) : undefined;
    if (url?.protocol !== 'https:')
      throw new InvalidArgumentError('Give them as https://10.0.0.1:6443, separated by commas.');
  }
  return [...before, ...found];
}

/** Splits a comma-separated list. */
export function list(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 65_500)
    throw new InvalidArgumentError('Give a port from 1 to 65500.');
  return value;
}

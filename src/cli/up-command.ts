import { delimiter, join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import pc from 'picocolors';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { createLogger } from '../base/logger.js';
import type { RunningControlPlane } from '../tools/plane/control-plane.js';
import {
  BALANCES,
  type Balance,
  type ControlPlaneOptions,
  DEFAULT_VERSIONS,
} from '../tools/plane/control-plane-options.js';
import { newResource } from './new-resource.js';
import { type Surroundings, stopSignal } from './surroundings.js';

export type StartControlPlane = (options: ControlPlaneOptions) => Promise<RunningControlPlane>;

interface UpFlags {
  readonly versions?: readonly string[];
  readonly dataDir: string;
  readonly port: number;
  readonly balance: Balance;
  readonly proxy: boolean;
  readonly etcdServers: readonly string[];
  readonly runtimeConfig: readonly string[];
  readonly upstream: readonly string[];
  readonly pkiDir: string;
  readonly rollCommand?: string;
}

export interface UpCommandOptions {
  readonly start: StartControlPlane;
  readonly exitWith: (code: number) => void;
}

const EXAMPLES = `
Several API servers of different Kubernetes versions on one store, each with the mixed version proxy, and a load balancer
before them, all on this machine. Ctrl-C stops everything; the next start goes on with the same data.

Examples:
  $ straddle up
  $ straddle up --versions=${shippedVersions().slice(-3).join(',')} --data-dir=./plane
  See what clients meet without the proxy:
  $ straddle up --no-proxy
  Upgrade it, from another terminal:
  $ straddle roll --to=1.36
  Before real API servers, with the certificates that kubeadm made:
  $ straddle up --upstream=https://10.0.0.1:6443,https://10.0.0.2:6443 --pki-dir=/etc/kubernetes/pki
`;

/** Default of --runtime-config: an API that 1.35 lacks, and StorageVersions. */
export const SHOWN = ['scheduling.k8s.io/v1alpha2=true', 'internal.apiserver.k8s.io/v1alpha1=true'];

export function addUpCommand(program: Command, surroundings: Surroundings, options: UpCommandOptions): void {
  program
    .command('up')
    .description('Run a mixed-version control plane on this machine')
    .addOption(
      new Option(
        '--versions <list>',
        `one server for each, oldest first or not; there are ${shippedVersions().join(', ')} (default: those of the last run, else ${DEFAULT_VERSIONS.join(',')})`,
      ).argParser(versions),
    )
    .option('--data-dir <path>', 'store, certificates, logs and the kubeconfig', './straddle-data')
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
        .default(SHOWN, SHOWN.join(',')),
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
  const mayColor = surroundings.environment['NO_COLOR'] === undefined;
  const colors = pc.createColors(surroundings.stderrIsTerminal && mayColor);
  const stop = stopSignal(surroundings, () => surroundings.exitNow(1));
  const { upstream, pkiDir, rollCommand, dataDir, ...rest } = flags;
  const starting = start({
    ...rest,
    versions: flags.versions,
    controllers: true,
    restart: true,
    dataDir: resolve(dataDir),
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
    const screenColors = pc.createColors(surroundings.stdoutIsTerminal === true && mayColor);
    const shown = await onlyNewestServes(plane, flags);
    surroundings.stdout(screen(plane, flags, { colors: screenColors, self: selfAsTyped(surroundings), shown }));
  }
  await stop.first;
  surroundings.stderr(`${colors.dim('stopping')}\n`);
  await plane.close();
  return 0;
}

/** Returns the command that runs this program in another terminal. */
function selfAsTyped({ environment, readFile }: Surroundings): string {
  const isOnPath = (environment['PATH'] ?? '').split(delimiter).some((dir) => {
    try {
      return readFile(join(dir, 'straddle')) !== '';
    } catch {
      return false;
    }
  });
  return isOnPath ? 'straddle' : `node ${resolve(process.argv[1] ?? 'bin/straddle.js')}`;
}

interface ScreenOptions {
  readonly colors: ReturnType<typeof pc.createColors>;
  readonly self: string;
  /** A resource that only the newest servers serve. */
  readonly shown: string | undefined;
}

function versionsOf({ servers }: RunningControlPlane): string[] {
  const minorOf = (version: string): number => Number(version.split('.')[1]);
  return [...new Set(servers.map(({ version }) => version))].sort((left, right) => minorOf(left) - minorOf(right));
}

async function onlyNewestServes(plane: RunningControlPlane, flags: UpFlags): Promise<string | undefined> {
  if (flags.upstream.length > 0) return undefined;
  const versions = versionsOf(plane);
  return newResource({
    older: versions.at(-2) ?? versions[0]!,
    newer: versions.at(-1)!,
    runtimeConfig: flags.runtimeConfig,
  });
}

function screen(plane: RunningControlPlane, flags: UpFlags, { colors, self, shown }: ScreenOptions): string {
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
  const table = rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd(),
  );
  return `
${colors.bold(`A control plane is up${flags.proxy ? '' : ', without the mixed version proxy'}.`)}

${table.join('\n')}

Try, in another terminal:

${things(plane, flags, { self, shown })
  .map(({ line, why }) => `  ${line}${why === '' ? '' : `   ${colors.dim(`# ${why}`)}`}`)
  .join('\n')}

Ctrl-C stops everything${flags.upstream.length === 0 ? '; the data stays' : ' but the API servers themselves'}.
`;
}

interface Thing {
  readonly line: string;
  readonly why: string;
}

/** Returns commands to try next; each works as it is printed. */
function things(
  plane: RunningControlPlane,
  { proxy, upstream, dataDir }: UpFlags,
  { self, shown }: Pick<ScreenOptions, 'self' | 'shown'>,
): Thing[] {
  const { servers, kubeconfig } = plane;
  const first = servers[0]!.name;
  const newest = versionsOf(plane).at(-1)!;
  const setting: Thing = { line: `export KUBECONFIG=${kubeconfig}`, why: '' };
  const looks: Thing[] = [
    { line: `${self} status`, why: 'who runs, and who knows whom' },
    { line: `${self} diff`, why: 'which server serves what' },
  ];
  if (upstream.length > 0) return [setting, { line: `kubectl --context=front get nodes`, why: '' }, ...looks];
  const skew: Thing = {
    line: `kubectl --context=${first} get ${shown} -A`,
    why: proxy ? `only ${newest} serves it, every server answers` : 'a 404 where it is unknown',
  };
  return [
    setting,
    ...(shown === undefined ? [] : [skew]),
    { line: 'kubectl create deployment web --image=nginx', why: 'through the front door' },
    {
      line: `curl --cacert ${join(resolve(dataDir), 'pki', 'ca.crt')} https://${plane.front}/version`,
      why: 'each answer from the next server',
    },
    { line: `${self} roll --to=${newest} --data-dir=${resolve(dataDir)}`, why: 'upgrades one server after the other' },
    ...looks,
  ];
}

function versions(text: string): string[] {
  const found = list(text);
  if (found.length === 0 || found.length > 9 || !found.every((each) => /^\d+\.\d+$/.test(each))) {
    throw new InvalidArgumentError('Give one to nine minor versions, such as 1.35,1.35,1.36.');
  }
  return found;
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

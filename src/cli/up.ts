import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import pc from 'picocolors';
import type { ControlPlaneOptions, RunningControlPlane } from '../compose.js';
import { createLogger } from '../observe/logger.js';
import type { Surroundings } from './surroundings.js';

export type StartControlPlane = (options: ControlPlaneOptions) => Promise<RunningControlPlane>;

interface UpFlags {
  readonly versions: readonly string[];
  readonly dataDir: string;
  readonly port: number;
  readonly proxy: boolean;
  readonly etcdServers: readonly string[];
  readonly runtimeConfig: readonly string[];
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
  $ straddle up --versions=1.34,1.35,1.36 --data-dir=./plane
  See what clients meet without the proxy:
  $ straddle up --no-proxy
`;

/** What 1.36 has and 1.35 has not, so that there is something to see. */
const SKEW = 'scheduling.k8s.io/v1alpha2=true';

export function addUpCommand(program: Command, surroundings: Surroundings, options: UpCommandOptions): void {
  program
    .command('up')
    .description('Run a mixed-version control plane on this machine')
    .addOption(
      new Option('--versions <list>', 'one server for each, oldest first or not')
        .argParser(versions)
        .default(['1.35', '1.35', '1.36'], '1.35,1.35,1.36'),
    )
    .option('--data-dir <path>', 'store, certificates, logs and the kubeconfig', './straddle-data')
    .addOption(
      new Option('--port <number>', 'of the front door; servers take the following ones').argParser(port).default(7440),
    )
    .option('--no-proxy', 'without the mixed version proxy: what one server does not know is a 404 there')
    .addOption(
      new Option('--etcd-servers <urls>', 'store in etcd instead').argParser(list).default([], 'the embedded store'),
    )
    .addOption(
      new Option('--runtime-config <list>', 'versions to turn on or off, on servers that know them')
        .argParser(list)
        .default([SKEW], SKEW),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: UpFlags) => options.exitWith(await up(flags, surroundings, options.start)));
}

async function up(flags: UpFlags, surroundings: Surroundings, start: StartControlPlane): Promise<number> {
  const colors = pc.createColors(surroundings.stderrIsTerminal && surroundings.environment['NO_COLOR'] === undefined);
  const stopped = new Promise<string>((resolveSignal) => {
    let asked = false;
    surroundings.onStopSignal((signal) => {
      if (asked) surroundings.exitNow(1);
      asked = true;
      resolveSignal(signal);
    });
  });
  const logger = createLogger({ level: 'warn', format: 'text', write: surroundings.stderr, nowMs: surroundings.nowMs });
  const plane = await start({
    ...flags,
    dataDir: resolve(flags.dataDir),
    self: [...process.execArgv, process.argv[1]!],
    machine: surroundings,
    logger,
    progress: (sentence) => surroundings.stderr(`${colors.dim(sentence)}\n`),
  });
  surroundings.stdout(screen(plane, flags, colors));
  const failure = await Promise.race([stopped.then(() => undefined), plane.failed]);
  if (failure !== undefined) surroundings.stderr(`${colors.red('straddle:')} ${failure}\n`);
  surroundings.stderr(`${colors.dim('stopping')}\n`);
  await plane.close();
  return failure === undefined ? 0 : 1;
}

function screen(
  plane: RunningControlPlane,
  { proxy, versions: asked }: UpFlags,
  colors: ReturnType<typeof pc.createColors>,
): string {
  const rows = [
    ['', 'version', 'address', 'process'],
    ['front door', '', plane.front, String(process.pid)],
    ...plane.servers.map(({ name, version, address, pid }) => [name, version, address, String(pid)]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd(),
  );
  const isMixed = new Set(asked).size > 1;
  const oldest = plane.servers[0]!.name;
  return `
${colors.bold(`A control plane is up${proxy ? '' : ', without the mixed version proxy'}.`)}

${table.join('\n')}

Try, in another terminal:

  export KUBECONFIG=${plane.kubeconfig}
  kubectl --context=${oldest} get podgroups.v1alpha2.scheduling.k8s.io -A${isMixed ? `   ${colors.dim(proxy ? '# only 1.36 serves it, every server answers' : '# a 404 where it is unknown')}` : ''}
  kubectl --context=front create deployment web --image=nginx
  kubectl --context=${oldest} get --raw '/apis' | head -c 400

Ctrl-C stops everything; the data stays.
`;
}

function versions(text: string): string[] {
  const found = list(text);
  if (found.length === 0 || found.length > 9 || !found.every((each) => /^\d+\.\d+$/.test(each))) {
    throw new InvalidArgumentError('Give one to nine minor versions, such as 1.35,1.35,1.36.');
  }
  return found;
}

function list(text: string): string[] {
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

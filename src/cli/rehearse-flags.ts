import { type Command, InvalidArgumentError, Option } from 'commander';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { parseGoDurationMs } from '../compose/config/go-duration.js';
import { type HalfName, REHEARSAL_DEFAULTS } from '../tools/rehearse/rehearsal-options.js';
import { list } from './up-command.js';
import { minorVersion } from './version-argument.js';

export const REHEARSE_OUTPUTS = ['text', 'json', 'yaml'] as const;
const PROXIES = ['both', 'off', 'on'] as const;
const SERVERS_MAX = 9;
const HOLD_MS_MIN = 1_000;
const HOLD_MS_MAX = 3_600_000;
const RATE_MAX = 10_000;
const CLIENTS_MAX = 1_000;

export interface RehearseFlags {
  readonly from?: string;
  readonly to?: string;
  readonly servers?: number;
  readonly manifests?: string;
  readonly exec?: string;
  readonly hold: number;
  readonly rate: number;
  readonly clients: number;
  readonly proxy: (typeof PROXIES)[number];
  readonly controllers: 'plain' | 'none';
  readonly resource?: string;
  readonly runtimeConfig: readonly string[];
  readonly upstream: readonly string[];
  readonly pkiDir: string;
  readonly rollCommand?: string;
  /** False with --no-report. */
  readonly report: string | false;
  readonly output: (typeof REHEARSE_OUTPUTS)[number];
  readonly dataDir?: string;
}

export function halvesOf({ proxy }: Pick<RehearseFlags, 'proxy'>): readonly HalfName[] {
  return proxy === 'both' ? REHEARSAL_DEFAULTS.halves : [proxy];
}

export function addRehearseFlags(command: Command): Command {
  const { servers, secondsPerStep, load, controllers } = REHEARSAL_DEFAULTS;
  const shipped = shippedVersions();
  return command
    .option(
      '--from <version>',
      `minor version that all servers begin with; Straddle's own servers have ${shipped.join(', ')} (default: the one before --to)`,
      minorVersion,
    )
    .option(
      '--to <version>',
      `minor version that they are upgraded to, and rolled back from (default: ${shipped.at(-1)})`,
      minorVersion,
    )
    .addOption(
      new Option('--servers <number>', `how many (default: ${servers}, or one for each --upstream)`).argParser(
        whole(2, SERVERS_MAX),
      ),
    )
    .option('--manifests <path>', 'folder or file with your own definitions and objects, in YAML or JSON')
    .option('--exec <command>', 'your own client: a shell command that is run again and again, with KUBECONFIG set')
    .addOption(
      new Option('--hold <duration>', 'how long the load goes on between two steps')
        .argParser(hold)
        .default(secondsPerStep * 1_000, `${secondsPerStep}s`),
    )
    .addOption(
      new Option('--rate <number>', 'requests per second of all load clients together')
        .argParser(whole(1, RATE_MAX))
        .default(load.requestsPerSecond),
    )
    .addOption(
      new Option('--clients <number>', 'how many load clients').argParser(whole(1, CLIENTS_MAX)).default(load.clients),
    )
    .addOption(
      new Option('--proxy <halves>', 'with the mixed version proxy off, on, or both').choices(PROXIES).default('both'),
    )
    .addOption(
      new Option(
        '--controllers <which>',
        'plain: a namespace and a garbage collecting controller that believe every answer; none: you run others',
      )
        .choices(['plain', 'none'])
        .default(controllers),
    )
    .option(
      '--resource <name>',
      'the only one to exercise of what only --to serves, as `straddle diff` names it (default: all that can be)',
    )
    .addOption(
      new Option('--runtime-config <list>', 'versions to turn on or off, on servers that know them')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--upstream <urls>',
        'real API servers of a test cluster, each of which gets a sidecar, instead of our own',
      )
        .argParser((text: string, before: readonly string[]) => [...before, ...list(text).map(serverUrl)])
        .default([], 'none'),
    )
    .option('--pki-dir <path>', 'certificates of the real API servers, as kubeadm names them', '/etc/kubernetes/pki')
    .option(
      '--roll-command <command>',
      'shell command that brings a real API server to another version; it is told STRADDLE_SERVER, STRADDLE_UPSTREAM and STRADDLE_VERSION',
    )
    .option('--report <file>', 'where the HTML report is written', 'rehearsal.html')
    .option('--no-report', 'no HTML report')
    .addOption(new Option('-o, --output <form>', 'how to print the report').choices(REHEARSE_OUTPUTS).default('text'))
    .option('--data-dir <path>', 'where the control planes keep their data meanwhile (default: a temporary folder)');
}

function whole(lowest: number, highest: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= lowest && value <= highest) return value;
    throw new InvalidArgumentError(`Give a whole number from ${lowest} to ${highest}.`);
  };
}

function hold(text: string): number {
  const ms = parseGoDurationMs(text);
  if (ms !== undefined && ms >= HOLD_MS_MIN && ms <= HOLD_MS_MAX) return ms;
  throw new InvalidArgumentError('Give a duration from 1s to 1h, such as 10s.');
}

function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.pathname !== '/' || url.search !== '' || url.username !== '') {
    throw new InvalidArgumentError('Give addresses such as https://10.0.0.1:6443.');
  }
  return url.origin;
}

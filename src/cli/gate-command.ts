import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { loadSurface } from '../apiserver/surfaces/load-surface.js';
import { parseRuntimeConfig } from '../apiserver/surfaces/runtime-config.js';
import { notShipped } from '../apiserver/surfaces/shipped-versions.js';
import { surfaceDiscovery } from '../apiserver/surfaces/surface-discovery.js';
import { NO_COLORS } from '../base/terminal-colors.js';
import { ConfigError } from '../compose/config/config-error.js';
import { type Surface, servedResources } from '../kube/surface.js';
import { inspectGate } from '../tools/inspect/gate/gate-inspection.js';
import { REASON_IDS, type ReasonId } from '../tools/inspect/gate/gate-reason.js';
import { type Direction, exitCodeOf, type GateReport, type GateWanted } from '../tools/inspect/gate/gate-report.js';
import { gateDetails, gateLine } from '../tools/inspect/gate/gate-text.js';
import type { ShippedVersion } from '../tools/inspect/gate/rollback.js';
import { LOOK_EVERY_MS, waitForGate } from '../tools/inspect/gate/wait-for-gate.js';
import { frontProxyFile } from './check-command.js';
import { durationArgument } from './duration-argument.js';
import { addInspectFlags, type InspectFlags, inspectOptions, printed } from './inspect-options.js';
import { chosenKubeconfig } from './kube-access.js';
import { pause } from './pause.js';
import { stderrColors, stdoutColors, stdoutLook } from './stream-look.js';
import type { Surroundings } from './surroundings.js';
import { minorVersion } from './version-argument.js';

const EXAMPLES = `
May I replace the next server now? One line on standard output, \`open\`, or \`closed:\` or \`unknown:\` with the names of the
reasons, and an exit code: 0 open, 1 closed, 2 it could not be found out (nobody answers, or too few rights: then it is never
open). The reasons, each with the next step, follow on a terminal; otherwise they go to standard error.

Open means: every server is protected, reachable and ready, reads its peers, and shows the same merged discovery; no API is
left with one server only (with --server: with that one); nothing is held for a server that went away; no storage migration
runs; certificates are good. --for=rollback also counts the objects that the older version would not serve. In which version
an object of a resource that both versions serve is stored is seen only where servers serve storageversions (feature gate
StorageVersionAPI): no other API shows it.

Reasons, as --allow takes them: ${REASON_IDS.join(', ')}.

Examples:
  $ straddle gate
  $ straddle gate --server=control-plane-2 --wait --timeout=15m && ssh control-plane-2 kubeadm upgrade node
  $ straddle gate --for=rollback
  $ straddle gate --for=rollback --to=1.36 -o json | jq '.reasons[] | select(.id == "stored-objects")'
  $ straddle gate --server=control-plane-3 --allow=sole-server
`;

const OUTPUTS = ['text', 'json', 'yaml'] as const;
const TIMEOUT_MS_DEFAULT = 600_000;
const TIMEOUT_MS_MAX = 24 * 3_600_000;
const COULD_NOT_JUDGE = 2;

interface GateFlags extends Omit<InspectFlags, 'server' | 'output'> {
  readonly output: (typeof OUTPUTS)[number];
  readonly address: readonly string[];
  readonly server?: string;
  readonly for: Direction;
  readonly to?: string;
  readonly allow: readonly ReasonId[];
  readonly wait?: boolean;
  readonly timeout?: number;
  readonly frontProxyCertFile?: string;
}

export function addGateCommand(
  program: Command,
  surroundings: Surroundings,
  { exitWith }: { readonly exitWith: (code: number) => void },
): void {
  const command = program.command('gate').description('Say whether the next server may be replaced now');
  addInspectFlags(command, { outputs: OUTPUTS, addressFlag: '--address' })
    .option('--front-proxy-cert-file <path>', 'certificate that servers show to each other, to check it too')
    .option('--server <name>', 'the server that is about to be replaced, by name or host:port (default: any)')
    .addOption(new Option('--for <direction>', 'what is going on').choices(['upgrade', 'rollback']).default('upgrade'))
    .addOption(
      new Option(
        '--to <version>',
        'version after the rollback (default: the oldest one that servers run, if they run several)',
      ).argParser(minorVersion),
    )
    .addOption(
      new Option('--allow <reason>', 'open although of this reason; may be repeated')
        .argParser((text: string, before: readonly ReasonId[]) => [...before, reasonId(text)])
        .default([], 'none'),
    )
    .option('--wait', `look every ${LOOK_EVERY_MS / 1_000} s until the gate is open`)
    .addOption(
      new Option('--timeout <duration>', 'how long to wait (default: 10m)').argParser(
        durationArgument({ minMs: 1_000, maxMs: TIMEOUT_MS_MAX, form: 'a duration from 1s to 24h, such as 10m' }),
      ),
    )
    .addHelpText('after', EXAMPLES)
    // Scripts must be able to tell a wrong command line from a closed gate.
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new CommanderError(COULD_NOT_JUDGE, error.code, error.message);
    })
    .action(async (flags: GateFlags) => {
      try {
        const report = await gate(flags, surroundings);
        print(report, flags, surroundings);
        exitWith(exitCodeOf(report));
      } catch (error) {
        const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
        for (const problem of problems) surroundings.stderr(`straddle: ${problem}\n`);
        exitWith(COULD_NOT_JUDGE);
      }
    });
}

async function gate(flags: GateFlags, surroundings: Surroundings): Promise<GateReport> {
  const { address, server, to, allow, wait = false, timeout } = flags;
  if (to !== undefined && flags.for !== 'rollback') throw new ConfigError(['--to is for --for=rollback.']);
  if (timeout !== undefined && !wait) throw new ConfigError(['--timeout is for --wait: give both, or neither.']);
  const wanted: GateWanted = { for: flags.for, server, allow: new Set(allow) };
  const named = { ...flags, kubeconfig: await chosenKubeconfig(flags, surroundings) };
  const options = {
    ...(await inspectOptions({ ...named, output: 'table', server: address }, surroundings)),
    frontProxy: frontProxyFile(named, surroundings),
    wanted,
    to,
    load: shipped,
  };
  const colors = stderrColors(surroundings);
  const look = { colors, width: undefined };
  return waitForGate({
    wanted,
    look: () => inspectGate(options),
    nowMs: surroundings.nowMs,
    pause,
    timeoutMs: wait ? (timeout ?? TIMEOUT_MS_DEFAULT) : 0,
    onChange: (report) => surroundings.stderr(`waiting, ${gateLine(report, colors)}${gateDetails(report, look)}`),
  });
}

function print(report: GateReport, { output }: GateFlags, surroundings: Surroundings): void {
  const { stdout, stderr, stdoutIsTerminal } = surroundings;
  if (output !== 'text') {
    stdout(printed(report, output, surroundings, () => ''));
    return;
  }
  // Scripts compare the line: it has no color in a pipe, whatever FORCE_COLOR says.
  stdout(gateLine(report, stdoutIsTerminal ? stdoutColors(surroundings) : NO_COLORS));
  if (stdoutIsTerminal) stdout(gateDetails(report, stdoutLook(surroundings)));
  else stderr(gateDetails(report, { colors: stderrColors(surroundings), width: undefined }));
}

async function shipped(minor: string): Promise<ShippedVersion | undefined> {
  if (notShipped(minor) !== undefined) return undefined;
  const version = await loadSurface(minor);
  const surface = (entries: readonly string[]): Surface => {
    const resources = servedResources(surfaceDiscovery(version, parseRuntimeConfig(entries)));
    return { resources, core: [], groups: [], kubernetesVersion: version.capturedFrom };
  };
  return { byDefault: surface([]), everything: surface(['api/all=true']) };
}

function reasonId(text: string): ReasonId {
  const known = REASON_IDS.find((each) => each === text);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(`Reasons are ${REASON_IDS.join(', ')}.`);
}

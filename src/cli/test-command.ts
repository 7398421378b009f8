import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import type { ControlPlane, ControlPlaneOptions } from '../tools/testing/index.js';
import { stderrColors } from './stream-look.js';
import type { Surroundings } from './surroundings.js';
import { list } from './up-command.js';
import { minorVersion } from './version-argument.js';

export type StartTestControlPlane = (options: ControlPlaneOptions) => Promise<ControlPlane>;

export interface TestCommandOptions {
  readonly start: StartTestControlPlane;
  readonly exitWith: (code: number) => void;
}

interface TestFlags {
  readonly versions?: readonly string[];
  readonly context: string;
  readonly proxy: boolean;
  readonly runtimeConfig: readonly string[];
  readonly crds: readonly string[];
}

/** Exit codes of a shell: for a program that is not there, and for one that cannot be run. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;
const SIGNAL_BASE = 128;

const NEWEST = shippedVersions().slice(-2).join(',');
const EXAMPLES = `
Starts a control plane of several Kubernetes versions on this machine, runs the command with its kubeconfig, stops the control
plane, and ends with the exit code of the command (128 and the number of the signal, if one ended it).

The command finds in its environment:
  KUBECONFIG             a kubeconfig with the contexts front (a load balancer), server-1, server-2, …, as an admin
  USE_EXISTING_CLUSTER   true: suites with envtest of controller-runtime then use KUBECONFIG and start no servers of their own, so
                         that KUBEBUILDER_ASSETS and TEST_ASSET_… are not looked at; they are passed on as they are

Examples:
  $ straddle test -- go test ./...
  $ straddle test --versions=${NEWEST} --no-proxy -- npm test
  $ straddle test --crds=./config/crd/bases -- ./e2e.sh --verbose
`;

export function addTestCommand(program: Command, surroundings: Surroundings, options: TestCommandOptions): void {
  program
    .command('test')
    .usage('[options] -- <command> [arguments…]')
    .description('Run a command, such as the tests of an operator, against a control plane of its own')
    .argument('<command...>', 'command and its arguments, after --')
    .addOption(
      new Option(
        '--versions <list>',
        `one server for each; there are ${shippedVersions().join(', ')} (default: ${NEWEST})`,
      ).argParser((text) => list(text).map(minorVersion)),
    )
    .option('--context <name>', 'the current context: front, or a server', 'front')
    .option('--no-proxy', 'without the mixed version proxy: what one server does not know is a 404 there')
    .addOption(
      new Option('--runtime-config <list>', 'versions to turn on or off, on servers that know them')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(
      new Option('--crds <paths>', 'files and folders with CustomResourceDefinitions to begin with')
        .argParser(list)
        .default([], 'none'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (command: readonly string[], flags: TestFlags) =>
      options.exitWith(await test(command, flags, surroundings, options.start)),
    );
}

async function test(
  command: readonly string[],
  { versions, context, proxy, runtimeConfig, crds }: TestFlags,
  surroundings: Surroundings,
  start: StartTestControlPlane,
): Promise<number> {
  const { stderr, nowMs } = surroundings;
  const colors = stderrColors(surroundings);
  const say = (sentence: string): void => stderr(`${colors.dim(`straddle: ${sentence}`)}\n`);
  const signals = collectSignals(surroundings);
  const beganMs = nowMs();
  say('starting a control plane');
  const wanted = { ...(versions === undefined ? {} : { versions }), proxy, runtimeConfig, crds };
  const plane = await start(wanted).catch((error: unknown) => {
    signals.forget();
    throw error;
  });
  try {
    const kubeconfig = withContext(plane, context);
    const running = plane.servers.map(({ name, version }) => `${name} ${version}`).join(', ');
    say(`ready after ${((nowMs() - beganMs) / 1_000).toFixed(1)} s: ${running}`);
    const first = signals.received[0];
    return first === undefined
      ? await run(command, { kubeconfig, signals, surroundings })
      : SIGNAL_BASE + constants.signals[first];
  } finally {
    signals.forget();
    await plane.close();
  }
}

/** Returns the kubeconfig with that current context. Throws for one that there is not. */
function withContext(plane: ControlPlane, context: string): string {
  const contexts = ['front', ...plane.servers.map(({ name }) => name)];
  if (!contexts.includes(context))
    throw new Error(`--context: there is no context ${context}; there are ${contexts.join(', ')}.`);
  return plane.kubeconfig.replace(/^current-context: .*$/m, `current-context: ${context}`);
}

interface RunOptions {
  readonly kubeconfig: string;
  readonly signals: Signals;
  readonly surroundings: Surroundings;
}

/** Runs the command with the terminal of this process. Resolves with the exit code. */
async function run([program, ...args]: readonly string[], options: RunOptions): Promise<number> {
  const { kubeconfig, signals, surroundings } = options;
  const folder = mkdtempSync(join(tmpdir(), 'straddle-test-'));
  const file = join(folder, 'kubeconfig');
  try {
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    const env = { ...surroundings.environment, KUBECONFIG: file, USE_EXISTING_CLUSTER: 'true' };
    const child = spawn(program!, args, { stdio: 'inherit', env });
    signals.passTo(child);
    return await new Promise<number>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        const isMissing = error.code === 'ENOENT';
        const why = isMissing ? 'there is no such program; is it on the PATH?' : error.message;
        surroundings.stderr(`straddle: ${program} cannot be run: ${why}\n`);
        resolve(isMissing ? NOT_FOUND : NOT_RUNNABLE);
      });
      child.once('exit', (code, signal) => resolve(code ?? SIGNAL_BASE + constants.signals[signal!]));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Signals {
  readonly received: readonly NodeJS.Signals[];
  passTo(child: ChildProcess): void;
  forget(): void;
}

/** A stop signal is for the command, which decides what follows from it; this program ends after it. */
function collectSignals({ onStopSignal, stderrIsTerminal }: Surroundings): Signals {
  const received: NodeJS.Signals[] = [];
  let child: ChildProcess | undefined;
  const forget = onStopSignal((signal) => {
    received.push(signal as NodeJS.Signals);
    // A terminal sends it to all programs in the foreground itself; a third one is for a command that does not end.
    if (received.length > 2) child?.kill('SIGKILL');
    else if (signal !== 'SIGINT' || !stderrIsTerminal) child?.kill(signal as NodeJS.Signals);
  });
  return {
    received,
    passTo: (started) => {
      child = started;
    },
    forget,
  };
}

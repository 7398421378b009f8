import { Command, CommanderError } from 'commander';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { fileProblem } from '../base/file-problem.js';
import { printable } from '../base/printable.js';
import type { ApiServerConfig } from '../compose/config/api-server-config.js';
import { ConfigError } from '../compose/config/config-error.js';
import { nearest } from '../compose/config/nearest.js';
import type { ProxyConfig } from '../compose/config/proxy-config.js';
import { addApiServerCommand } from './apiserver-command.js';
import { addCheckCommand } from './check-command.js';
import { addCreateCommand } from './create-command.js';
import { addDashboardCommand } from './dashboard-command.js';
import { addDiffCommand } from './diff-command.js';
import { addForgetCommand } from './forget-command.js';
import { addGateCommand } from './gate-command.js';
import { addGetCommand } from './get-command.js';
import { addInstallCommands } from './install-command.js';
import { addManifestCommand } from './manifest-command.js';
import { addPassthroughCommand } from './passthrough-command.js';
import { addProbeCommand } from './probe-command.js';
import { addProxyCommand } from './proxy-command.js';
import { addRbacCommand } from './rbac-command.js';
import { addRehearseCommand, type Rehearse } from './rehearse-command.js';
import { addRollCommand } from './roll-command.js';
import type { Start } from './serve.js';
import { addStatusCommand } from './status-command.js';
import { stderrColors } from './stream-look.js';
import { addSurfaceCommand } from './surface-command.js';
import type { Surroundings } from './surroundings.js';
import { addTestCommand, type StartTestControlPlane } from './test-command.js';
import { addUpCommand, type StartControlPlane } from './up-command.js';
import { addVersionCommand, versionLine } from './version-command.js';

const EXAMPLES = `
Examples:
  $ straddle up
  $ straddle roll --to=${shippedVersions().at(-1)}
  $ straddle rehearse
  $ straddle test -- go test ./...
  $ straddle proxy --config=/etc/straddle/straddle.yaml
  $ straddle apiserver --data-dir=./data --secure-port=7443
  $ straddle check --kubeconfig=/etc/kubernetes/admin.conf
  $ straddle dashboard
  $ straddle gate --wait --server=control-plane-2
  $ straddle rbac | kubectl apply -f -
  $ straddle forget control-plane-2
  $ straddle passthrough on --reason='upgrade of CP 2 hangs'

\`straddle <command> --help\` says more about each.
`;

/** The functions that start servers; tests replace them. */
export interface Starters {
  readonly proxy: Start<ProxyConfig>;
  readonly apiServer: Start<ApiServerConfig>;
  readonly controlPlane: StartControlPlane;
  readonly rehearse: Rehearse;
  readonly testControlPlane: StartTestControlPlane;
}

/** Runs one command line and resolves with the exit code; never ends the process and never rejects. */
export async function runStraddle(
  argv: readonly string[],
  surroundings: Surroundings,
  start: Starters,
): Promise<number> {
  let exitCode = 0;
  const program = new Command('straddle')
    .description('Mixed version proxy for Kubernetes control planes: every API server answers for all of them.')
    .version(versionLine(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({ writeOut: surroundings.stdout, writeErr: surroundings.stderr, outputError: () => {} })
    .addHelpText('after', EXAMPLES);
  const exitWith = (code: number) => {
    exitCode = code;
  };
  addProxyCommand(program, surroundings, { start: start.proxy, exitWith });
  addApiServerCommand(program, surroundings, { start: start.apiServer, exitWith });
  addUpCommand(program, surroundings, { start: start.controlPlane, exitWith });
  addRollCommand(program, surroundings);
  addRehearseCommand(program, surroundings, { rehearse: start.rehearse, exitWith });
  addTestCommand(program, surroundings, { start: start.testControlPlane, exitWith });
  addDashboardCommand(program, surroundings, { exitWith });
  addStatusCommand(program, surroundings);
  addDiffCommand(program, surroundings);
  addCheckCommand(program, surroundings, { exitWith });
  addGateCommand(program, surroundings, { exitWith });
  addGetCommand(program, surroundings);
  addCreateCommand(program, surroundings);
  addForgetCommand(program, surroundings);
  addPassthroughCommand(program, surroundings, { exitWith });
  addProbeCommand(program, surroundings, { exitWith });
  addRbacCommand(program, surroundings);
  addManifestCommand(program, surroundings);
  addInstallCommands(program, surroundings);
  addSurfaceCommand(program, surroundings);
  addVersionCommand(program, surroundings);
  if (argv.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(kubernetesSpelling(argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, program, argv, surroundings);
  }
}

/** Converts the spellings of Kubernetes programs: underscores for dashes, `-v=4`, `-o=json`. What is after `--` stays. */
export function kubernetesSpelling(argv: readonly string[]): string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.map((argument, index) => {
    if (index >= end) return argument;
    if (argument.startsWith('-v=')) return `--v=${argument.slice(3)}`;
    if (argument.startsWith('-o=')) return `--output=${argument.slice(3)}`;
    const [, name, rest] = /^--([^=]+)(.*)$/s.exec(argument) ?? [];
    return name === undefined ? argument : `--${name.replaceAll('_', '-')}${rest}`;
  });
}

function report(error: unknown, program: Command, argv: readonly string[], surroundings: Surroundings): number {
  const colors = stderrColors(surroundings);
  // Servers say a part of some sentences.
  const say = (sentence: string) => surroundings.stderr(`${colors.red('straddle:')} ${printable(sentence)}\n`);
  if (error instanceof CommanderError) {
    if (error.exitCode !== 0) say(commandLineProblem(error, program, argv));
    return error.exitCode;
  }
  if (error instanceof ConfigError) for (const problem of error.problems) say(problem);
  else say(sentenceOf(error));
  return 1;
}

/** Returns the message of an error; of one of the file system the path and the reason, without names of system calls. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { path, syscall } = error as NodeJS.ErrnoException;
  if (path === undefined || syscall === undefined || !error.message.includes(syscall)) return error.message;
  return `${path} cannot be used (${fileProblem(error)}); check that it exists and that this user may use it.`;
}

function commandLineProblem(error: CommanderError, program: Command, argv: readonly string[]): string {
  const commands = commandsNamed(program, argv);
  const command = commands.at(-1);
  const usage = ['straddle', ...commands.map((each) => each.name()), '--help'].join(' ');
  const [, quoted = ''] = /'([^']*)'/.exec(error.message) ?? [];
  if (error.code === 'commander.unknownOption') {
    const flag = quoted.split('=', 1)[0]!;
    const known = (command ?? program).options.flatMap((option) => option.long ?? []).concat('--help');
    return `Unknown flag ${flag}.${didYouMean(flag, known)} \`${usage}\` lists them all.`;
  }
  if (error.code === 'commander.unknownCommand') {
    const known = (command ?? program).commands.map((candidate) => candidate.name());
    return `Unknown command "${quoted}".${didYouMean(quoted, known)} Commands: ${known.join(', ')}.`;
  }
  const sentence = error.message.replace(/^error: /, '');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.?$/, '.')} See \`${usage}\`.`;
}

/** Returns the command of a command line, and its subcommand if there is one. */
function commandsNamed(program: Command, argv: readonly string[]): Command[] {
  const named = program.commands.find((candidate) => candidate.name() === argv[0]);
  const nested = named?.commands.find((candidate) => candidate.name() === argv[1]);
  return [named, nested].filter((command) => command !== undefined);
}

function didYouMean(typed: string, known: readonly string[]): string {
  const suggestion = nearest(typed, known);
  return suggestion ? ` Did you mean ${suggestion}?` : '';
}

import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { startTimer } from '../base/clock.js';
import { type Logger, serverLogger } from '../base/logger.js';
import { straddleVersion } from '../base/straddle-version.js';
import { defaultOf, type Flag, type FlagCommand, placeholder, REPEATABLE_KINDS } from '../compose/config/flag.js';
import { type FlagName, flagsOf } from '../compose/config/flags.js';
import type { ServerConfig } from '../compose/config/server-config.js';
import type { RunningServer } from '../compose/start-server.js';
import { type Surroundings, stopSignal } from './surroundings.js';

export type Start<Config> = (config: Config, io: { readonly logger: Logger }) => Promise<RunningServer>;

/** Time after the configured bounds of a stop from which the stop counts as hanging. */
const STOP_MARGIN_MS = 10_000;

export interface ServerCommandOptions<Config> {
  readonly start: Start<Config>;
  readonly exitWith: (code: number) => void;
}

export interface ServerCommand<Config extends ServerConfig> extends ServerCommandOptions<Config> {
  readonly name: FlagCommand;
  readonly description: string;
  readonly examples: string;
  load(flags: ReadonlyMap<FlagName, readonly string[]>, surroundings: Surroundings): Config;
}

/** Adds a command that runs a server until a stop signal. */
export function addServerCommand<Config extends ServerConfig>(
  program: Command,
  surroundings: Surroundings,
  { name, description, examples, load, start, exitWith }: ServerCommand<Config>,
): void {
  const given = new Map<FlagName, readonly string[]>();
  const command = program
    .command(name)
    .description(description)
    .configureHelp({ minWidthToWrap: 20 })
    .addHelpOption(new Option('-h, --help', 'print this help').helpGroup('General:'))
    .addHelpText('after', examples);
  for (const flag of flagsOf(name)) for (const option of commandOptions(flag, given, name)) command.addOption(option);
  command.action(async () => exitWith(await runServer(load(given, surroundings), surroundings, start)));
}

/** Returns the options of a flag, which keep values as text for the configuration. */
function commandOptions(
  flag: Flag & { readonly name: FlagName },
  given: Map<FlagName, readonly string[]>,
  command: FlagCommand,
): Option[] {
  const repeatable = REPEATABLE_KINDS.has(flag.kind);
  const keep = (value: string) => {
    given.set(flag.name, repeatable ? [...(given.get(flag.name) ?? []), value] : [value]);
    return value;
  };
  const spelling = flag.short ? `-${flag.short}, --${flag.name}` : `--${flag.name}`;
  const shown = new Option(`${spelling} <${placeholder(flag)}>`, helpText(flag, command))
    .argParser(keep)
    .helpGroup(`${flag.section}:`);
  const aliases = (flag.aliases ?? []).map((alias) => new Option(`--${alias} <value>`).argParser(keep).hideHelp());
  return [shown, ...aliases];
}

function helpText(flag: Flag, command: FlagCommand): string {
  const standard = defaultOf(flag, command) || flag.defaultNote;
  const also = flag.aliases ? ` Also --${flag.aliases.join(', --')}.` : '';
  return `${flag.description}${also}${standard ? ` (default: ${standard})` : ''}`;
}

/** Runs a server from start to stop; resolves with the exit code. */
async function runServer<Config extends ServerConfig>(
  config: Config,
  surroundings: Surroundings,
  start: Start<Config>,
): Promise<number> {
  const logger = serverLogger(config, surroundings);
  for (const note of config.notes) logger.warn(note);
  // The first signal asks for a graceful stop, also during the start; the second ends the process.
  const stop = stopSignal(surroundings, (signal) => {
    logger.warn('stopping at once, requests in flight are cut', { signal });
    surroundings.exitNow(1);
  });
  try {
    const server = await start(config, { logger });
    logger.info('serving', {
      version: straddleVersion(),
      server: config.serverName,
      address: server.address,
      port: server.port,
    });
    if (server.kubeconfig !== undefined) surroundings.stdout(kubeconfigLine(server.kubeconfig));
    return await untilStopped(server, stop.first, { config, logger, surroundings });
  } finally {
    stop.forget();
  }
}

/** The one line of a server on standard output: everything else is its log. */
function kubeconfigLine(path: string): string {
  return `ready; its kubeconfig is written anew: ${resolve(path)}\n`;
}

async function untilStopped(
  server: RunningServer,
  signal: Promise<string>,
  { config, logger, surroundings }: { config: ServerConfig; logger: Logger; surroundings: Surroundings },
): Promise<number> {
  const ended = server.closed.then(() => undefined);
  const reason = await Promise.race([signal, ended]);
  if (reason === undefined) {
    logger.error('the server ended without having been asked');
    return 1;
  }
  logger.info('stopping, requests in flight may end', { signal: reason, graceMs: config.shutdownGraceMs });
  const limitMs = config.shutdownDelayMs + config.shutdownGraceMs + STOP_MARGIN_MS;
  const giveUp = (): void => {
    logger.error('stopping took too long, ending anyway', { limitMs });
    surroundings.exitNow(1);
  };
  const cancelGiveUp = startTimer(limitMs, giveUp, { keepsAlive: true });
  try {
    await server.close();
  } finally {
    cancelGiveUp();
  }
  logger.info('stopped');
  return 0;
}

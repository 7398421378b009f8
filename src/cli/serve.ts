import { type Command, Option } from 'commander';
import { startTimer } from '../base/clock.js';
import { type Logger, serverLogger } from '../base/logger.js';
import { type Flag, type FlagCommand, placeholder, REPEATABLE_KINDS } from '../compose/config/flag.js';
import { type FlagName, flagsOf } from '../compose/config/flags.js';
import type { ServerConfig } from '../compose/config/server-config.js';
import type { Surroundings } from './surroundings.js';
import { straddleVersion } from './version-command.js';

export interface RunningServer {
  readonly address: string;
  readonly port: number;
  /** Drains and stops; resolves when all is closed. */
  close(): Promise<void>;
  /** Resolves when the server has ended, by `close` or without it. Never rejects. */
  readonly closed: Promise<void>;
}

export type Start<Config> = (config: Config, io: { readonly logger: Logger }) => Promise<RunningServer>;

/** Closing keeps to the configured times by itself; this much later it hangs, and waiting on would help nobody. */
const STOP_MARGIN_MS = 10_000;

export interface ServerCommand<Config extends ServerConfig> {
  readonly name: FlagCommand;
  readonly description: string;
  readonly examples: string;
  load(flags: ReadonlyMap<FlagName, readonly string[]>, surroundings: Surroundings): Config;
  readonly start: Start<Config>;
  readonly exitWith: (code: number) => void;
}

/** A command that runs a server until it is told to stop. */
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
  for (const flag of flagsOf(name)) for (const option of commandOptions(flag, given)) command.addOption(option);
  command.action(async () => exitWith(await runServer(load(given, surroundings), surroundings, start)));
}

/** Values are kept as text under the flag's one name; what they mean is the configuration's business. */
function commandOptions(flag: Flag & { readonly name: FlagName }, given: Map<FlagName, readonly string[]>): Option[] {
  const repeatable = REPEATABLE_KINDS.has(flag.kind);
  const keep = (value: string) => {
    given.set(flag.name, repeatable ? [...(given.get(flag.name) ?? []), value] : [value]);
    return value;
  };
  const spelling = flag.short ? `-${flag.short}, --${flag.name}` : `--${flag.name}`;
  const shown = new Option(`${spelling} <${placeholder(flag)}>`, helpText(flag))
    .argParser(keep)
    .helpGroup(`${flag.section}:`);
  const aliases = (flag.aliases ?? []).map((alias) => new Option(`--${alias} <value>`).argParser(keep).hideHelp());
  return [shown, ...aliases];
}

function helpText(flag: Flag): string {
  const standard = flag.default || flag.defaultNote;
  const also = flag.aliases ? ` Also --${flag.aliases.join(', --')}.` : '';
  return `${flag.description}${also}${standard ? ` (default: ${standard})` : ''}`;
}

/** From start to stop; resolves with the exit code. */
export async function runServer<Config extends ServerConfig>(
  config: Config,
  surroundings: Surroundings,
  start: Start<Config>,
): Promise<number> {
  const logger = serverLogger(config, surroundings);
  for (const note of config.notes) logger.warn(note);
  const stop = stopSignals(surroundings, logger);
  try {
    const server = await start(config, { logger });
    logger.info('serving', {
      version: straddleVersion(),
      server: config.serverName,
      address: server.address,
      port: server.port,
    });
    return await untilStopped(server, stop.first, { config, logger, surroundings });
  } finally {
    stop.forget();
  }
}

interface StopSignals {
  readonly first: Promise<string>;
  forget(): void;
}

/** The first signal asks for a graceful stop, also while starting; the second does not ask. */
function stopSignals(surroundings: Surroundings, logger: Logger): StopSignals {
  let resolveFirst: (signal: string) => void = () => {};
  const first = new Promise<string>((resolve) => {
    resolveFirst = resolve;
  });
  let asked = false;
  const forget = surroundings.onStopSignal((signal) => {
    if (asked) {
      logger.warn('stopping at once, requests in flight are cut', { signal });
      surroundings.exitNow(1);
    }
    asked = true;
    resolveFirst(signal);
  });
  return { first, forget };
}

interface RunContext {
  readonly config: ServerConfig;
  readonly logger: Logger;
  readonly surroundings: Surroundings;
}

async function untilStopped(server: RunningServer, signal: Promise<string>, context: RunContext): Promise<number> {
  const { config, logger, surroundings } = context;
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

import { type Command, Option } from 'commander';
import { type Flag, placeholder, REPEATABLE_KINDS } from '../config/flag.js';
import { type FlagName, PROXY_FLAGS } from '../config/flags.js';
import { loadProxyConfig } from '../config/load-proxy-config.js';
import type { ProxyConfig } from '../config/proxy-config.js';
import { createLogger, type Logger } from '../observe/logger.js';
import type { Surroundings } from './surroundings.js';
import { straddleVersion } from './version.js';

export interface RunningServer {
  readonly address: string;
  readonly port: number;
  /** Drains and stops; resolves when all is closed. */
  close(): Promise<void>;
  /** Resolves after `close`, rejects if the server ended without having been asked. */
  readonly closed: Promise<void>;
}

export type StartProxy = (config: ProxyConfig, io: { readonly logger: Logger }) => Promise<RunningServer>;

/** Closing keeps to the configured times by itself; this much later it hangs, and waiting on would help nobody. */
const STOP_MARGIN_MS = 10_000;

const EXAMPLES = `
Straddle stands in front of one kube-apiserver, one Straddle per API server. Give it that server's own flags and where
it listens now; what this server does not serve is carried to a peer that does, and every client sees the complete
discovery of the whole control plane.

Examples:
  Beside a kubeadm kube-apiserver that was moved to port 7443:
  $ cd /etc/kubernetes/pki && straddle proxy --upstream=https://127.0.0.1:7443 --secure-port=6443 \\
      --tls-cert-file=apiserver.crt --tls-private-key-file=apiserver.key \\
      --client-ca-file=ca.crt --peer-ca-file=ca.crt \\
      --requestheader-client-ca-file=front-proxy-ca.crt --requestheader-allowed-names=front-proxy-client \\
      --proxy-client-cert-file=front-proxy-client.crt --proxy-client-key-file=front-proxy-client.key

  The same from a file (keys are the flags' names):
  $ straddle proxy --config=/etc/straddle/straddle.yaml

  Known peers only, nothing looked up:
  $ straddle proxy --config=straddle.yaml --peer-sources= --peer=https://10.0.0.2:6443
`;

export interface ProxyCommandOptions {
  readonly start: StartProxy;
  readonly exitWith: (code: number) => void;
}

export function addProxyCommand(program: Command, surroundings: Surroundings, options: ProxyCommandOptions): void {
  const given = new Map<FlagName, readonly string[]>();
  const command = program
    .command('proxy')
    .description('Stand in front of one kube-apiserver and answer for the whole control plane')
    .configureHelp({ minWidthToWrap: 20 })
    .addHelpOption(new Option('-h, --help', 'print this help').helpGroup('General:'))
    .addHelpText('after', EXAMPLES);
  for (const flag of PROXY_FLAGS) for (const option of commandOptions(flag, given)) command.addOption(option);
  command.action(async () => {
    const config = loadProxyConfig(given, surroundings);
    options.exitWith(await runProxy(config, surroundings, options.start));
  });
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
export async function runProxy(config: ProxyConfig, surroundings: Surroundings, start: StartProxy): Promise<number> {
  const logger = createLogger({
    level: config.logLevel,
    format: config.logFormat === 'auto' ? (surroundings.stderrIsTerminal ? 'text' : 'json') : config.logFormat,
    write: surroundings.stderr,
    nowMs: surroundings.nowMs,
  });
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
  readonly config: ProxyConfig;
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
  const hanging = setTimeout(() => {
    logger.error('stopping took too long, ending anyway', { limitMs });
    surroundings.exitNow(1);
  }, limitMs);
  try {
    await server.close();
  } finally {
    clearTimeout(hanging);
  }
  logger.info('stopped');
  return 0;
}

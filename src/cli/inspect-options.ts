import { type Command, InvalidArgumentError, Option } from 'commander';
import { dump } from 'js-yaml';
import { hostPortOf } from '../base/address.js';
import { ConfigError } from '../compose/config/config-error.js';
import type { KubeconfigAccess, PemSource } from '../compose/config/kubeconfig.js';
import type { InspectOptions } from '../tools/inspect/inspection.js';
import { type AccessOptions, readAccess } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

export const OUTPUTS = ['table', 'wide', 'json', 'yaml'] as const;
export type Output = (typeof OUTPUTS)[number];

/** The flags of the commands that look at a control plane and change nothing. */
export interface InspectFlags extends AccessOptions {
  readonly output: Output;
  readonly server: readonly string[];
  readonly peerCaFile?: string;
}

export function addInspectFlags(command: Command): Command {
  return command
    .option('--kubeconfig <path>', 'kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context in it (default: its current one)')
    .addOption(new Option('-o, --output <form>', 'how to print it').choices(OUTPUTS).default('table'))
    .addOption(
      new Option('--server <address>', 'a server that the cluster does not tell of, host:port; may be repeated')
        .argParser((text: string, before: readonly string[]) => [...before, address(text)])
        .default([], 'none'),
    )
    .option('--peer-ca-file <path>', 'CA that servers verify each other with (default: the CA in the kubeconfig)')
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server');
}

function address(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url?.protocol === 'https:' ? `${url.hostname}:${url.port || 443}` : text;
  if (!/^(\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}$/.test(plain)) {
    throw new InvalidArgumentError('Give it as host:port, such as 10.0.0.2:6443.');
  }
  return plain;
}

/** Everything that looking at a control plane takes, with all files read. */
export function inspectOptions(
  flags: InspectFlags,
  surroundings: Surroundings,
): InspectOptions & { kubeconfig: KubeconfigAccess } {
  const access = readAccess(flags, surroundings);
  const read = (path: string, what: string): string => {
    try {
      return surroundings.readFile(path);
    } catch (error) {
      throw new ConfigError([`${what} ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? error}).`]);
    }
  };
  const pem = (source: PemSource | undefined, what: string) =>
    source === undefined ? undefined : 'pem' in source ? source.pem : read(source.file, what);
  return {
    kubeconfig: access,
    url: access.server,
    serverName: access.serverName ?? hostPortOf(new URL(access.server)).host,
    credentials: {
      ca: pem(access.ca, 'The certificate authority'),
      clientCert: pem(access.clientCert, 'The client certificate'),
      clientKey: pem(access.clientKey, 'The client key'),
      token: access.token ?? (access.tokenFile && read(access.tokenFile, 'The token').trim()),
      insecureSkipTlsVerify: access.insecureSkipTlsVerify,
    },
    peerCa: flags.peerCaFile === undefined ? undefined : read(flags.peerCaFile, '--peer-ca-file'),
    given: flags.server,
    nowMs: surroundings.nowMs,
  };
}

/** A report in the form that was asked for; `text` makes the two forms for people. */
export function printed<T extends object>(
  report: T,
  output: Output,
  text: (report: T, wide: boolean) => string,
): string {
  if (output === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  if (output === 'yaml') return dump(report, { lineWidth: 120, noRefs: true });
  return text(report, output === 'wide');
}

import { type Command, InvalidArgumentError, Option } from 'commander';
import { dump } from 'js-yaml';
import type { InspectOptions } from '../tools/inspect/inspection.js';
import type { TextLook } from '../tools/inspect/text-look.js';
import { type AccessOptions, askerOptions, KUBECONFIG_HELP, readAccess, readNamed } from './kube-access.js';
import { stdoutLook } from './stream-look.js';
import type { Surroundings } from './surroundings.js';

export const OUTPUTS = ['table', 'wide', 'json', 'yaml'] as const;
export type Output = (typeof OUTPUTS)[number];

/** The flags of the commands that only read a control plane. */
export interface InspectFlags extends AccessOptions {
  readonly output: Output;
  readonly server: readonly string[];
  readonly peerCaFile?: string;
}

/** What a command has otherwise than `status`. */
interface Otherwise {
  /** The first one is the default. */
  readonly outputs?: readonly [string, ...string[]];
  /** Name of the flag `--server`, where that means something else. */
  readonly addressFlag?: string;
}

export function addInspectFlags(
  command: Command,
  { outputs = OUTPUTS, addressFlag = '--server' }: Otherwise = {},
): Command {
  return command
    .option('--kubeconfig <path>', KUBECONFIG_HELP)
    .option('--context <name>', 'context in it (default: its current one)')
    .addOption(new Option('-o, --output <form>', 'how to print it').choices(outputs).default(outputs[0]))
    .addOption(
      new Option(`${addressFlag} <address>`, 'a server that the cluster does not tell of, host:port; may be repeated')
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

/** Returns the options of an inspection, with all files read. */
export async function inspectOptions(flags: InspectFlags, surroundings: Surroundings): Promise<InspectOptions> {
  const { peerCaFile, server } = flags;
  return {
    ...askerOptions(await readAccess(flags, surroundings), surroundings),
    peerCa: peerCaFile === undefined ? undefined : readNamed(peerCaFile, '--peer-ca-file', surroundings),
    given: server,
  };
}

/** Returns a report in the form that was asked for; `text` makes the two forms for people. */
export function printed<T extends object>(
  report: T,
  output: Output,
  surroundings: Surroundings,
  text: (report: T, wide: boolean, look: TextLook) => string,
): string {
  if (output === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  if (output === 'yaml') return dump(report, { lineWidth: 120, noRefs: true });
  return text(report, output === 'wide', stdoutLook(surroundings));
}

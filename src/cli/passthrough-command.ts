import { Argument, type Command, Option } from 'commander';
import { passthroughReport, passthroughText } from '../tools/inspect/passthrough-report.js';
import { type AccessOptions, askerOptions, KUBECONFIG_HELP, readAccess } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
The panic switch. While passthrough is on, a Straddle serves every request from its own API server and from nowhere else:
nothing is rerouted, merged or held back, as if there were no Straddle. It takes effect in under a second and without a
restart, and it survives one. Requests that are on their way to a peer finish. Peers go on being watched, so that protection
is complete at once after \`straddle passthrough off\`.

Every Straddle is asked at its own address, or those named with --server. The user needs the right to post the non-resource
URL /straddle/passthrough (\`status\`: to get it). Without a working API, make or delete the file --passthrough-file of a
Straddle on its machine, by default /var/lib/straddle/passthrough.

Exit code: 0 if every server that was asked is in the wanted state (\`status\`: has replied), else 1.

Examples:
  $ straddle passthrough on --reason='discovery is wrong since 10:40'
  $ straddle passthrough status
  $ straddle passthrough off
  $ straddle passthrough on --server=control-plane-2 --kubeconfig=/etc/kubernetes/admin.conf
  $ straddle passthrough on --server=10.0.0.2:6443
`;

type Wanted = 'on' | 'off' | 'status';

interface PassthroughFlags extends AccessOptions {
  readonly server: readonly string[];
  readonly reason: string;
  readonly output: 'text' | 'json';
}

export function addPassthroughCommand(
  program: Command,
  surroundings: Surroundings,
  { exitWith }: { readonly exitWith: (code: number) => void },
): void {
  program
    .command('passthrough')
    .description('Switch the protection of every Straddle off, or on again, without a restart')
    .addArgument(new Argument('<state>', 'what to do').choices(['on', 'off', 'status']))
    .option('--kubeconfig <path>', KUBECONFIG_HELP)
    .option('--context <name>', 'context in it (default: its current one)')
    .addOption(
      new Option('--server <name>', 'only this server, by name or host:port; may be repeated')
        .argParser((text: string, before: readonly string[]) => [...before, text])
        .default([], 'all'),
    )
    .option('--reason <text>', 'why, for logs and for others who look', '')
    .addOption(new Option('-o, --output <form>', 'how to print it').choices(['text', 'json']).default('text'))
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(async (wanted: Wanted, flags: PassthroughFlags) => {
      const report = await passthroughReport({
        ...askerOptions(await readAccess(flags, surroundings), surroundings),
        order: wanted === 'status' ? undefined : { on: wanted === 'on', reason: flags.reason },
        only: flags.server,
      });
      const text = flags.output === 'json' ? `${JSON.stringify(report, null, 2)}\n` : passthroughText(report);
      surroundings.stdout(text);
      exitWith(report.done ? 0 : 1);
    });
}

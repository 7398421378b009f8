import { type Command, Option } from 'commander';
import { ConfigError } from '../compose/config/config-error.js';
import { inspect } from '../tools/inspect/inspection.js';
import { statusReport } from '../tools/inspect/status-report.js';
import { statusText } from '../tools/inspect/status-text.js';
import { durationArgument } from './duration-argument.js';
import { addInspectFlags, type InspectFlags, inspectOptions, printed } from './inspect-options.js';
import { pause } from './pause.js';
import type { Surroundings } from './surroundings.js';
import { watchStatus } from './watch-status.js';

const EXAMPLES = `
Which API servers the control plane has, by their identity leases, the EndpointSlice of Service default/kubernetes and
their static pods, and what each says of itself when it is asked at its own address. Works with and without Straddle. A
server with a Straddle before it has two lines. PEERS: how many of the others it can reach; REROUTES: requests that it had
another server answer; SURFACE: since it last looked at what itself serves. A kube-apiserver tells little of this.

Examples:
  $ straddle status
  $ straddle status -o wide --context=prod
  $ straddle status --watch
  $ straddle status -o json | jq '.servers[] | select(.health != "ready")'
  $ straddle status --server=10.0.0.2:6443 --server=10.0.0.3:6443
`;

interface StatusFlags extends InspectFlags {
  readonly watch?: boolean;
  readonly interval?: number;
}

const EVERY_MS_DEFAULT = 2_000;

export function addStatusCommand(program: Command, surroundings: Surroundings): void {
  addInspectFlags(program.command('status').description('Show the API servers of a control plane, and how they are'))
    .addHelpText('after', EXAMPLES)
    .option('--watch', 'look again and again until Ctrl-C; in a pipe, print a table after each change')
    .addOption(
      new Option('--interval <duration>', 'time from one look of --watch to the next (default: 2s)').argParser(
        durationArgument({ minMs: 1_000, maxMs: 3_600_000, form: 'a duration from 1s to 1h, such as 5s' }),
      ),
    )
    .action(async ({ watch = false, interval, ...flags }: StatusFlags) => {
      if (interval !== undefined && !watch)
        throw new ConfigError(['--interval is for --watch: give both, or neither.']);
      const options = await inspectOptions(flags, surroundings);
      const look = async () => statusReport(await inspect(options));
      const { output } = flags;
      if (watch) await watchStatus({ look, output, everyMs: interval ?? EVERY_MS_DEFAULT, pause }, surroundings);
      else surroundings.stdout(printed(await look(), output, surroundings, statusText));
    });
}

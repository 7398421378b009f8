import type { Command } from 'commander';
import { inspect } from '../tools/inspect/inspection.js';
import { statusReport } from '../tools/inspect/status-report.js';
import { statusText } from '../tools/inspect/status-text.js';
import { addInspectFlags, type InspectFlags, inspectOptions, printed } from './inspect-options.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
Which API servers the control plane has, by their identity leases, the EndpointSlice of Service default/kubernetes and
their static pods, and what each says of itself when it is asked at its own address. Works with and without Straddle. A
server with a Straddle before it has two lines. PEERS: how many of the others it can reach; REROUTES: requests that it had
another server answer; SURFACE: since it last looked at what itself serves. A kube-apiserver tells little of this.

Examples:
  $ straddle status
  $ straddle status -o wide --context=prod
  $ straddle status -o json | jq '.servers[] | select(.health != "ready")'
  $ straddle status --server=10.0.0.2:6443 --server=10.0.0.3:6443
`;

export function addStatusCommand(program: Command, surroundings: Surroundings): void {
  addInspectFlags(program.command('status').description('Show the API servers of a control plane, and how they are'))
    .addHelpText('after', EXAMPLES)
    .action(async (flags: InspectFlags) => {
      const report = statusReport(await inspect(await inspectOptions(flags, surroundings)));
      surroundings.stdout(printed(report, flags.output, surroundings, statusText));
    });
}

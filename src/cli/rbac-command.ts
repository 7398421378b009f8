import { type Command, InvalidArgumentError } from 'commander';
import { rbacManifest } from '../compose/straddle-rights.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
Straddle reads and keeps leases, and reads the EndpointSlices of default/kubernetes, to find its peers. Unless it has
a --kubeconfig of its own it does so as the user system:straddle, through the front-proxy certificate, and that user
needs these rights once per cluster. Rights on the requests it carries are always those of the caller.

Examples:
  $ straddle rbac | kubectl apply -f -
  $ straddle rbac --user=straddle-cp1 > straddle-rbac.yaml
`;

export function addRbacCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('rbac')
    .description('Print the RBAC manifest with the few rights that Straddle itself needs')
    .option('--user <name>', 'the user that Straddle acts as', plainName, 'system:straddle')
    .addHelpText('after', EXAMPLES)
    .action(({ user }: { readonly user: string }) => surroundings.stdout(rbacManifest(user)));
}

/** Accepts only names that are plain text in YAML, quoted or not. */
function plainName(value: string): string {
  if (!/^[A-Za-z0-9]([A-Za-z0-9._:@-]*[A-Za-z0-9])?$/.test(value)) {
    throw new InvalidArgumentError('Use letters, digits and . _ : @ - only.');
  }
  return value;
}

import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { ConfigError } from '../compose/config/config-error.js';
import { kubeconfigPath } from '../compose/config/kubeconfig.js';
import { inspectCheck } from '../tools/inspect/check-inspection.js';
import { checkText, exitCodeOf } from '../tools/inspect/check-report.js';
import { addInspectFlags, type InspectFlags, inspectOptions, printed } from './inspect-options.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
Is the protection on, on every server? One line for each thing that was looked at: ok, warn, FAIL, or unknown where it
cannot be seen with these rights; below each FAIL, how to mend it. Works with Straddle, with kube-apiserver's own mixed
version proxy, and with neither. Servers are dialled from this machine; what they see of each other is their own word.
Exit code: 0 all is well, 1 something failed, 2 it could not be found out.

The front-proxy certificate is looked at too if it is at hand: by default pki/front-proxy-client.crt beside the kubeconfig.

Examples:
  $ straddle check
  $ straddle check --kubeconfig=/etc/kubernetes/admin.conf
  $ straddle check -o json | jq '.checks[] | select(.verdict == "FAIL")'
  $ straddle check --server=10.0.0.2:6443 --peer-ca-file=/etc/kubernetes/pki/ca.crt || exit 1
`;

interface CheckFlags extends InspectFlags {
  readonly frontProxyCertFile?: string;
}

const COULD_NOT_CHECK = 2;

export function addCheckCommand(
  program: Command,
  surroundings: Surroundings,
  { exitWith }: { readonly exitWith: (code: number) => void },
): void {
  addInspectFlags(
    program.command('check').description('Check that a control plane is protected, and say how to mend it'),
  )
    .option('--front-proxy-cert-file <path>', 'certificate that servers show to each other, to check it too')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: CheckFlags) => {
      try {
        const frontProxy = frontProxyFile(flags, surroundings);
        const report = await inspectCheck(inspectOptions(flags, surroundings), frontProxy);
        surroundings.stdout(printed(report, flags.output, checkText));
        exitWith(exitCodeOf(report));
      } catch (error) {
        // An exit code of its own: scripts must be able to tell this from a failed check.
        const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
        for (const problem of problems) surroundings.stderr(`straddle: ${problem}\n`);
        exitWith(COULD_NOT_CHECK);
      }
    });
}

function frontProxyFile({ frontProxyCertFile, kubeconfig }: CheckFlags, surroundings: Surroundings) {
  const { environment, homeDirectory, readFile } = surroundings;
  const beside = dirname(kubeconfigPath(kubeconfig, environment, homeDirectory));
  const path = frontProxyCertFile ?? join(beside, 'pki', 'front-proxy-client.crt');
  try {
    return { path, pem: readFile(path) };
  } catch (error) {
    if (frontProxyCertFile === undefined) return undefined;
    const why = (error as NodeJS.ErrnoException).code ?? error;
    throw new ConfigError([`--front-proxy-cert-file ${path} cannot be read (${why}).`]);
  }
}

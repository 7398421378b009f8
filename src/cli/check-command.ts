import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { fileProblem } from '../base/file-problem.js';
import { ConfigError } from '../compose/config/config-error.js';
import { inspectCheck } from '../tools/inspect/check-inspection.js';
import { exitCodeOf } from '../tools/inspect/check-report.js';
import { checkText, isProblem, problemsText } from '../tools/inspect/check-text.js';
import { addInspectFlags, type InspectFlags, inspectOptions, printed } from './inspect-options.js';
import { chosenKubeconfig } from './kube-access.js';
import { COMPONENTS_DIR, localClients } from './local-clients.js';
import type { Surroundings } from './surroundings.js';

const EXAMPLES = `
Is the protection on, on every server? One line for each thing that was looked at: ok, warn, FAIL, or unknown where it
cannot be seen with these rights; below each FAIL, how to mend it. Works with Straddle, with kube-apiserver's own mixed
version proxy, and with neither. Servers are dialled from this machine; what they see of each other is their own word.
Exit code: 0 all is well, 1 something failed, 2 it could not be found out.

Where a Straddle is, the ways of clients are followed: the addresses of Service kubernetes, this kubeconfig, and those of
kube-controller-manager, kube-scheduler and kubelet if this runs on a control-plane node. A way past Straddle is a FAIL.

The front-proxy certificate is looked at too if it is at hand: by default pki/front-proxy-client.crt beside the kubeconfig.

Examples:
  $ straddle check
  $ straddle check --problems
  $ straddle check --kubeconfig=/etc/kubernetes/admin.conf
  $ straddle check -o json | jq '.checks[] | select(.verdict == "FAIL")'
  $ straddle check --server=10.0.0.2:6443 --peer-ca-file=/etc/kubernetes/pki/ca.crt || exit 1
`;

interface CheckFlags extends InspectFlags {
  readonly frontProxyCertFile?: string;
  readonly componentsDir?: string;
  readonly problems?: boolean;
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
    .option('--problems', 'only what is not ok')
    .option('--front-proxy-cert-file <path>', 'certificate that servers show to each other, to check it too')
    .option(
      '--components-dir <path>',
      `folder with controller-manager.conf, scheduler.conf and kubelet.conf (default: ${COMPONENTS_DIR}, on a node of this control plane)`,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: CheckFlags) => {
      try {
        const named = { ...flags, kubeconfig: await chosenKubeconfig(flags, surroundings) };
        const frontProxy = frontProxyFile(named, surroundings);
        const clients = localClients(flags.componentsDir, surroundings);
        const report = await inspectCheck(await inspectOptions(named, surroundings), frontProxy, clients);
        const shown = flags.problems ? { ...report, checks: report.checks.filter(isProblem) } : report;
        const text = flags.problems ? problemsText(report.checks.length) : checkText;
        surroundings.stdout(printed(shown, flags.output, surroundings, text));
        exitWith(exitCodeOf(report));
      } catch (error) {
        // An exit code of its own: scripts must be able to tell this from a failed check.
        const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
        for (const problem of problems) surroundings.stderr(`straddle: ${problem}\n`);
        exitWith(COULD_NOT_CHECK);
      }
    });
}

/** Returns the front-proxy certificate of the flag, else the one in `pki` beside the kubeconfig if there is one. */
export function frontProxyFile(
  { frontProxyCertFile, kubeconfig }: Pick<CheckFlags, 'frontProxyCertFile'> & { readonly kubeconfig: string },
  { readFile }: Surroundings,
) {
  const path = frontProxyCertFile ?? join(dirname(kubeconfig), 'pki', 'front-proxy-client.crt');
  try {
    return { path, pem: readFile(path) };
  } catch (error) {
    if (frontProxyCertFile === undefined) return undefined;
    throw new ConfigError([`--front-proxy-cert-file ${path} cannot be read (${fileProblem(error)}).`]);
  }
}

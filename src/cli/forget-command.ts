import type { Command } from 'commander';
import { ConfigError } from '../compose/config/config-error.js';
import type { KubeconfigAccess } from '../compose/config/kubeconfig.js';
import { IDENTITY_LABEL } from '../proxy/peers/lease-source.js';
import { type IdentityLease, identityLeases, type LeaseShape, rememberedServers } from './known-servers.js';
import { type AccessOptions, KUBECONFIG_HELP, type KubeAnswer, kubeRequest, readAccess } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

const FORGET_LEASE_SECONDS = 3_600;
/** Bound on retries after conflicts with another operator who writes the same lease. */
const CONFLICT_ATTEMPTS_MAX = 4;

const EXAMPLES = `
When an API server goes away, Straddle remembers what only that server served: such requests are answered 503 (wait),
not 404 (it does not exist), until the server is back or --departed-grace is over. Use this command when the server
will not come back and nobody should wait for it, for example after a rollback or after a node was removed.

It writes a lease that every Straddle watches. A server that is alive is not affected, nor is one that departs later.
<server> is the server's name as in Straddle's logs and in straddle_departed_since_seconds of its metrics: its host name, or its
address (ip:port) if that is not known. A name that no Straddle knows is an error.

Examples:
  $ straddle forget control-plane-2
  $ straddle forget 10.0.0.2:6443 --kubeconfig=/etc/kubernetes/admin.conf --context=prod
`;

interface ForgetOptions extends AccessOptions {
  readonly namespace: string;
}

export function addForgetCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('forget')
    .description('Tell every Straddle that a departed server is gone for good')
    .argument('<server>', 'host name or address of the server')
    .option('--kubeconfig <path>', KUBECONFIG_HELP)
    .option('--context <name>', 'context in it (default: its current one)')
    .option('--namespace <namespace>', 'where the leases are', 'kube-system')
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(async (server: string, options: ForgetOptions) => {
      const access = await readAccess(options, surroundings);
      surroundings.stdout(await forget(server, { access, namespace: options.namespace, surroundings }));
    });
}

export interface ForgetContext {
  readonly access: KubeconfigAccess;
  readonly namespace: string;
  readonly surroundings: Pick<Surroundings, 'readFile' | 'nowMs'>;
}

/** Writes the lease and returns the message for the operator. */
export async function forget(server: string, context: ForgetContext): Promise<string> {
  const name = forgetLeaseName(server);
  if (!name) throw new ConfigError([`"${server}" is not the name or address of a server.`]);
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(context.namespace)}/leases`;
  const ask = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
    kubeRequest(context.access, context.surroundings, { method, path, body });
  const notes = await checkKnown(server, await ask('GET', leases), context);
  for (let attempt = 1; attempt <= CONFLICT_ATTEMPTS_MAX; attempt++) {
    const current = await ask('GET', `${leases}/${name}`);
    if (current.status !== 200 && current.status !== 404) throw refused(current, `read the lease ${name}`);
    const version = current.status === 200 ? resourceVersionOf(current.body) : undefined;
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name,
        namespace: context.namespace,
        labels: { [IDENTITY_LABEL]: 'straddle-forget' },
        ...(version === undefined ? {} : { resourceVersion: version }),
      },
      spec: {
        holderIdentity: server,
        leaseDurationSeconds: FORGET_LEASE_SECONDS,
        renewTime: renewTime(current, context),
      },
    };
    const written =
      version === undefined ? await ask('POST', leases, lease) : await ask('PUT', `${leases}/${name}`, lease);
    if (written.status === 200 || written.status === 201) return told(server, name, context) + notes;
    if (written.status !== 409) throw refused(written, `write the lease ${name}`);
  }
  throw new Error(
    `The lease ${name} was changed by others at the same time, ${CONFLICT_ATTEMPTS_MAX} times in a row; try again.`,
  );
}

function told(server: string, name: string, { access, namespace }: ForgetContext): string {
  return `Told every Straddle at ${access.server} to forget ${server} (lease ${namespace}/${name}).\n`;
}

/** Returns `straddle-forget-10.0.0.2-6443` for `10.0.0.2:6443`; undefined for no valid name. */
export function forgetLeaseName(server: string): string | undefined {
  const safe = server
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .split('.')
    .map((label) => label.replace(/^-+|-+$/g, ''))
    .filter((label) => label !== '')
    .join('.');
  return safe === '' ? undefined : `straddle-forget-${safe}`.slice(0, 253).replace(/[.-]+$/, '');
}

/**
 * Returns the time by the clock of the control plane, because a Straddle compares it with the time at
 * which the server departed. The Date header is rounded down to seconds, so a second is added.
 */
function renewTime(answer: KubeAnswer, { surroundings }: ForgetContext): string {
  const timeMs = answer.serverTimeMs === undefined ? surroundings.nowMs() : answer.serverTimeMs + 1_000;
  return new Date(timeMs).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}

/**
 * Returns notes for the operator. Throws if nobody would read the lease, or if the name is that of no server that a Straddle
 * knows: a mistyped name must not look like a success.
 */
async function checkKnown(server: string, answer: KubeAnswer, context: ForgetContext): Promise<string> {
  const { access, namespace, surroundings } = context;
  const items = (answer.body as { readonly items?: readonly LeaseShape[] } | null)?.items;
  if (answer.status !== 200 || !Array.isArray(items)) {
    return `Note: leases in ${namespace} may not be listed (${answer.status}), so the name was not checked.\n`;
  }
  const leases = identityLeases(items as readonly LeaseShape[], answer.serverTimeMs ?? surroundings.nowMs());
  if (!leases.some(({ isStraddle, isValid }) => isStraddle && isValid)) {
    throw new Error(
      `No Straddle has a valid lease in ${namespace} at ${access.server}, so nobody would be told: check --kubeconfig, --context and --namespace.`,
    );
  }
  const isMeant = ({ hostname, address }: IdentityLease): boolean => server === hostname || server === address;
  const meant = leases.filter(isMeant);
  if (meant.some(({ isValid }) => isValid)) {
    return `Note: ${server} still has a valid lease. If it is alive nothing changes; if it departs later, it will be remembered.\n`;
  }
  if (meant.length > 0) return '';
  const remembered = await rememberedServers(leases, { access, surroundings });
  if (remembered === undefined) {
    return 'Note: no Straddle let us read its /metrics, so the name was not checked.\n';
  }
  if (remembered.has(server)) return '';
  const alive = [...new Set(leases.flatMap(({ hostname }) => hostname ?? []))];
  throw new Error(
    `No Straddle remembers a server ${server}: ${remembered.size === 0 ? 'none has departed' : `departed: ${[...remembered].join(', ')}`}; with a lease: ${alive.join(', ')}.`,
  );
}

function resourceVersionOf(body: unknown): string | undefined {
  return (body as { readonly metadata?: { readonly resourceVersion?: string } } | null)?.metadata?.resourceVersion;
}

function refused(answer: KubeAnswer, what: string): Error {
  const message = (answer.body as { readonly message?: unknown } | null)?.message;
  return new Error(
    `The server did not let us ${what} (${answer.status}): ${typeof message === 'string' ? message : 'no reason given'}`,
  );
}

import type { Command } from 'commander';
import { ConfigError } from '../compose/config/config-error.js';
import type { KubeconfigAccess } from '../compose/config/kubeconfig.js';
import { type AccessOptions, type KubeAnswer, kubeRequest, readAccess } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

const FORGET_LEASE_SECONDS = 3_600;
/** Bound on retries after conflicts with another operator who writes the same lease. */
const CONFLICT_ATTEMPTS_MAX = 4;
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';

const EXAMPLES = `
When an API server goes away, Straddle remembers what only that server served: such requests are answered 503 (wait),
not 404 (it does not exist), until the server is back or --departed-grace is over. Use this command when the server
will not come back and nobody should wait for it, for example after a rollback or after a node was removed.

It writes a lease that every Straddle watches. A server that is alive is not affected, nor is one that departs later.
<server> is the server's name as in Straddle's logs: its host name, or its address (ip:port) if that is not known.

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
    .option('--kubeconfig <path>', 'kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context in it (default: its current one)')
    .option('--namespace <namespace>', 'where the leases are, as in --lease-namespace of the proxy', 'kube-system')
    .option('--insecure-skip-tls-verify', 'obey a kubeconfig that says not to verify the server')
    .addHelpText('after', EXAMPLES)
    .action(async (server: string, options: ForgetOptions) => {
      const access = readAccess(options, surroundings);
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
  const alive = isAlive(await ask('GET', leases), server, context.surroundings.nowMs());
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
    if (written.status === 200 || written.status === 201) return told(server, name, context, alive);
    if (written.status !== 409) throw refused(written, `write the lease ${name}`);
  }
  throw new Error(
    `The lease ${name} was changed by others at the same time, ${CONFLICT_ATTEMPTS_MAX} times in a row; try again.`,
  );
}

function told(server: string, name: string, { access, namespace }: ForgetContext, alive: boolean): string {
  const note = alive
    ? `Note: ${server} still has a valid lease. If it is alive nothing changes; if it departs later, it will be remembered.\n`
    : '';
  return `Told every Straddle at ${access.server} to forget ${server} (lease ${namespace}/${name}).\n${note}`;
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

interface LeaseShape {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
  };
}

/** Returns whether the server has a valid lease; false if leases may not be listed. */
function isAlive(answer: KubeAnswer, server: string, nowMs: number): boolean {
  const items = (answer.body as { readonly items?: readonly LeaseShape[] } | null)?.items;
  if (answer.status !== 200 || !Array.isArray(items)) return false;
  return (items as readonly LeaseShape[]).some(({ metadata, spec }) => {
    const kind = metadata?.labels?.[IDENTITY_LABEL];
    if (kind !== 'kube-apiserver' && kind !== 'straddle') return false;
    const endMs = Date.parse(spec?.renewTime ?? '') + (spec?.leaseDurationSeconds ?? 0) * 1_000;
    return metadata?.labels?.['kubernetes.io/hostname'] === server && endMs > (answer.serverTimeMs ?? nowMs);
  });
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

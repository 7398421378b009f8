import type { KubeconfigAccess } from '../compose/config/kubeconfig.js';
import {
  HOSTNAME_LABEL,
  IDENTITY_LABEL,
  PEER_ADDRESS_ANNOTATION,
  SERVER_NAME_ANNOTATION,
} from '../proxy/peers/lease-source.js';
import { Asker, type AskerOptions } from '../tools/inspect/ask.js';
import { MetricsPage } from '../tools/inspect/metrics-text.js';
import { askerOptions } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

export interface LeaseShape {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
  };
}

const STRADDLES_ASKED_MAX = 16;

/** An identity lease, as far as `straddle forget` needs it. */
export interface IdentityLease {
  readonly isStraddle: boolean;
  readonly hostname: string | undefined;
  /** Of a Straddle: where peers reach it. */
  readonly address: string | undefined;
  readonly isValid: boolean;
}

export function identityLeases(items: readonly LeaseShape[], nowMs: number): IdentityLease[] {
  return items.flatMap(({ metadata, spec }) => {
    const kind = metadata?.labels?.[IDENTITY_LABEL];
    if (kind !== 'kube-apiserver' && kind !== 'straddle') return [];
    const endMs = Date.parse(spec?.renewTime ?? '') + (spec?.leaseDurationSeconds ?? 0) * 1_000;
    return [
      {
        isStraddle: kind === 'straddle',
        hostname: (
          metadata?.annotations?.[SERVER_NAME_ANNOTATION] ?? metadata?.labels?.[HOSTNAME_LABEL]
        )?.toLowerCase(),
        address: metadata?.annotations?.[PEER_ADDRESS_ANNOTATION],
        isValid: endMs > nowMs,
      },
    ];
  });
}

/**
 * Returns the names of the departed servers that Straddles remember, by the metrics of those that can be asked; undefined if
 * none of them could be.
 */
export async function rememberedServers(
  leases: readonly IdentityLease[],
  { access, surroundings }: { access: KubeconfigAccess; surroundings: Pick<Surroundings, 'readFile' | 'nowMs'> },
): Promise<ReadonlySet<string> | undefined> {
  const { serverName, ...options } = askerOptions(access, surroundings);
  const addresses = leases.flatMap(({ isStraddle, isValid, address }) => (isStraddle && isValid && address) || []);
  const asked: AskerOptions[] = [
    { ...options, serverName },
    ...addresses.slice(0, STRADDLES_ASKED_MAX).map((address) => ({ ...options, url: `https://${address}` })),
  ];
  const found = (await Promise.all(asked.map(rememberedBy))).filter((names) => names !== undefined);
  return found.length === 0 ? undefined : new Set(found.flat());
}

async function rememberedBy(options: AskerOptions): Promise<string[] | undefined> {
  const asker = new Asker(options);
  try {
    const { status, text } = await asker.get('/metrics', 'text/plain');
    const page = new MetricsPage(text);
    if (status !== 200 || !page.has('straddle_departed_since_seconds')) return undefined;
    return page.all('straddle_departed_since_seconds').flatMap(({ labels }) => labels.get('server') ?? []);
  } catch {
    return undefined;
  } finally {
    asker.close();
  }
}

import { type JsonObject, objectMember } from '../../kube/json.js';
import { apiServerId } from './api-server-id.js';

export const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };
export const LEASE_NAMESPACE = 'kube-system';

const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const HOSTNAME_LABEL = 'kubernetes.io/hostname';
/** For a server name that is not a valid label value. */
const SERVER_NAME_ANNOTATION = 'straddle.dev/server-name';

/** Grace period of a server without a lease, because a server reports its storage before it creates its lease. */
const WITHOUT_LEASE_MS = 60_000;

/**
 * The servers that are gone: their lease expired or was deleted, or they had none for a while. The lease
 * of a kube-apiserver is named by the server's id; that of a Straddle contains the name of its server.
 */
export class DepartedServers {
  readonly #missingSinceMs = new Map<string, number>();
  /** Servers that have had a lease. */
  readonly #known = new Set<string>();
  #live = new Set<string>();
  #nowMs = 0;

  look(leases: readonly JsonObject[], nowMs: number): void {
    this.#nowMs = nowMs;
    this.#live = new Set();
    for (const lease of leases) {
      const id = idOf(lease);
      if (id === undefined) continue;
      if (expiresAtMs(lease) > nowMs) this.#live.add(id);
      this.#known.add(id);
      this.#missingSinceMs.delete(id);
    }
  }

  isGone(id: string): boolean {
    if (this.#live.has(id)) return false;
    if (this.#known.has(id)) return true;
    const since = this.#missingSinceMs.get(id) ?? this.#nowMs;
    this.#missingSinceMs.set(id, since);
    return this.#nowMs - since >= WITHOUT_LEASE_MS;
  }
}

function idOf(lease: JsonObject): string | undefined {
  const metadata = objectMember(lease, 'metadata');
  const labels = objectMember(metadata, 'labels');
  if (labels[IDENTITY_LABEL] === 'kube-apiserver') return String(metadata['name']);
  if (labels[IDENTITY_LABEL] !== 'straddle') return undefined;
  const named = objectMember(metadata, 'annotations')[SERVER_NAME_ANNOTATION] ?? labels[HOSTNAME_LABEL];
  return typeof named === 'string' ? apiServerId(named) : undefined;
}

function expiresAtMs(lease: JsonObject): number {
  const { renewTime, leaseDurationSeconds } = objectMember(lease, 'spec');
  const renewedMs = Date.parse(String(renewTime));
  return Number.isNaN(renewedMs) ? 0 : renewedMs + Number(leaseDurationSeconds ?? 0) * 1_000;
}

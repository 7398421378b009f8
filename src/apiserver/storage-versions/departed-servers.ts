import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { apiServerId } from './api-server-id.js';

export const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };
export const LEASE_NAMESPACE = 'kube-system';

const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const HOSTNAME_LABEL = 'kubernetes.io/hostname';
/** Holds a server name that the label cannot hold. */
const SERVER_NAME_ANNOTATION = 'straddle.dev/server-name';

/** Servers tell what they store before they have their lease: one that never had any is given this long. */
const WITHOUT_LEASE_MS = 60_000;

/**
 * Which servers are gone: those whose lease has run out or was deleted, and those that never showed one for a while. A kube-apiserver's
 * lease has the server's id for its name, a Straddle's tells the name that the id is made of.
 */
export class DepartedServers {
  readonly #missingSinceMs = new Map<string, number>();
  /** Had a lease at some time. */
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
  const { name, labels, annotations } = objectMember(lease, 'metadata');
  const kind = isObject(labels) ? labels[IDENTITY_LABEL] : undefined;
  if (kind === 'kube-apiserver') return String(name);
  if (kind !== 'straddle') return undefined;
  const named =
    (isObject(annotations) ? annotations[SERVER_NAME_ANNOTATION] : undefined) ?? (labels as JsonObject)[HOSTNAME_LABEL];
  return typeof named === 'string' ? apiServerId(named) : undefined;
}

function expiresAtMs(lease: JsonObject): number {
  const { renewTime, leaseDurationSeconds } = objectMember(lease, 'spec');
  const renewedMs = Date.parse(String(renewTime));
  return Number.isNaN(renewedMs) ? 0 : renewedMs + Number(leaseDurationSeconds ?? 0) * 1_000;
}

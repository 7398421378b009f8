import { gateInFlags } from './command-line.js';
import type { EndpointReading } from './endpoint-reading.js';

export const GATE = 'UnknownVersionInteroperabilityProxy';

/** The kind of server at an address. */
export type ServerKind = 'kube-apiserver' | 'straddle sidecar' | 'straddle apiserver';

/** Health checks of kube-apiserver that need the gate, and the gate and --peer-ca-file. */
const NATIVE_GATE_HOOK = 'poststarthook/peer-endpoint-reconciler-controller';
const NATIVE_PROXY_HOOK = 'poststarthook/mixed-version-proxy-handler';
/** Health checks of Straddle: one always exists, the other only while peering is active. */
const STRADDLE_CHECK = 'api-server';
const STRADDLE_PEERS_CHECK = 'peer-directory';

/** Protection of clients of one address; undefined properties are not known. */
export interface Protection {
  readonly kind: ServerKind;
  readonly gateOn: boolean | undefined;
  /** `--peer-ca-file` was given, and took effect. */
  readonly peerCaGiven: boolean | undefined;
  /** Whether requests for resources of peers are rerouted. */
  readonly active: boolean | undefined;
}

/** Derives the protection from health checks, metrics and flags of the pod. */
export function protectionOf(reading: EndpointReading): Protection {
  const { endpoint, ready, metrics, isEmbedded } = reading;
  const checks = ready && ready.checks.size > 0 ? ready.checks : undefined;
  const isStraddle = checks?.has(STRADDLE_CHECK) ?? metrics?.has('straddle_host_ready') ?? endpoint.kind === 'straddle';
  const kind = !isStraddle ? 'kube-apiserver' : isEmbedded ? 'straddle apiserver' : 'straddle sidecar';
  const flags = endpoint.pod?.flags;
  const seen = checks?.has(isStraddle ? STRADDLE_PEERS_CHECK : NATIVE_PROXY_HOOK);
  const gateOn = seen ? true : gateOf(reading, isStraddle);
  const peerCaGiven = seen ? true : gateOn && checks ? false : flags?.has('peer-ca-file');
  const both = gateOn === false || peerCaGiven === false ? false : gateOn && peerCaGiven;
  return { kind, gateOn, peerCaGiven, active: seen ?? both };
}

function gateOf({ endpoint, ready, metrics }: EndpointReading, isStraddle: boolean): boolean | undefined {
  const told = metrics?.featureEnabled(GATE);
  if (told !== undefined) return told;
  // Metrics with other gates but not this one are those of a version without the gate.
  if (metrics?.has('kubernetes_feature_enabled')) return false;
  if (!isStraddle && ready && ready.checks.size > 0) return ready.checks.has(NATIVE_GATE_HOOK);
  return endpoint.pod && gateInFlags(endpoint.pod.flags, GATE);
}

export function kindText({ kind, active }: Protection): string {
  if (kind === 'kube-apiserver') return active ? 'kube-apiserver, native proxy' : kind;
  return active === false ? `${kind}, proxy off` : kind;
}

import { gateInFlags } from './command-line.js';
import type { EndpointReading } from './endpoint-reading.js';
import { givenFlags } from './zpages.js';

export const GATE = 'UnknownVersionInteroperabilityProxy';

/** The kind of server at an address. */
export type ServerKind = 'kube-apiserver' | 'straddle sidecar' | 'straddle apiserver';

/** Health checks of kube-apiserver that need the gate, and the gate and --peer-ca-file. */
const NATIVE_GATE_HOOK = 'poststarthook/peer-endpoint-reconciler-controller';
const NATIVE_PROXY_HOOK = 'poststarthook/mixed-version-proxy-handler';
/** Health checks of Straddle: one always exists, the other only while peering is active. */
const STRADDLE_CHECK = 'api-server';
const STRADDLE_PEERS_CHECK = 'peer-directory';
/** Exists only while passthrough is on. */
const STRADDLE_PASSTHROUGH_CHECK = 'passthrough';
/** Largest distance from 1970 of a time that a Date can have. */
const TIME_MS_MAX = 8.64e15;

/** Protection of clients of one address; undefined properties are not known. */
export interface Protection {
  readonly kind: ServerKind;
  readonly gateOn: boolean | undefined;
  /** `--peer-ca-file` was given, and took effect. */
  readonly peerCaGiven: boolean | undefined;
  /** Whether requests for resources of peers are rerouted. */
  readonly active: boolean | undefined;
  /** An operator switched the protection off, and when, if the metrics show it. */
  readonly passthrough: { readonly sinceMs: number | undefined } | undefined;
}

/** Derives the protection from health checks, metrics and flags of the pod. */
export function protectionOf(reading: EndpointReading): Protection {
  const { endpoint, ready, metrics, isEmbedded } = reading;
  const checks = ready && ready.checks.size > 0 ? ready.checks : undefined;
  const isStraddle = checks?.has(STRADDLE_CHECK) ?? metrics?.has('straddle_host_ready') ?? endpoint.kind === 'straddle';
  const kind = !isStraddle ? 'kube-apiserver' : isEmbedded ? 'straddle apiserver' : 'straddle sidecar';
  const flags = processFlags(reading, isStraddle);
  const seen = checks?.has(isStraddle ? STRADDLE_PEERS_CHECK : NATIVE_PROXY_HOOK);
  const gateOn = seen ? true : gateOf(reading, isStraddle);
  const peerCaGiven = seen ? true : gateOn && checks ? false : flags?.has('peer-ca-file');
  const both = gateOn === false || peerCaGiven === false ? false : gateOn && peerCaGiven;
  const isPassthrough =
    isStraddle && (checks?.has(STRADDLE_PASSTHROUGH_CHECK) || metrics?.sum('straddle_passthrough') === 1);
  const active = isPassthrough ? false : (seen ?? both);
  const passthrough = isPassthrough ? { sinceMs: passthroughSinceMs(reading) } : undefined;
  return { kind, gateOn, peerCaGiven, active, passthrough };
}

/** Returns undefined for a time that is not shown to this user, or that is none. */
function passthroughSinceMs({ metrics }: EndpointReading): number | undefined {
  const sinceMs = (metrics?.sum('straddle_passthrough_since_seconds') ?? Number.NaN) * 1_000;
  return Math.abs(sinceMs) <= TIME_MS_MAX ? sinceMs : undefined;
}

/** `protection is switched off since 2026-11-18T10:40:00.000Z`. */
export function switchedOffText(since: string | null): string {
  return `protection is switched off${since === null ? '' : ` since ${since}`}`;
}

/** Returns the time of the switch, null if it is not known. */
export function switchedOffSince({ passthrough }: Protection): string | null {
  const sinceMs = passthrough?.sinceMs;
  return sinceMs === undefined ? null : new Date(sinceMs).toISOString();
}

function gateOf(reading: EndpointReading, isStraddle: boolean): boolean | undefined {
  const { ready, metrics } = reading;
  const told = metrics?.featureEnabled(GATE);
  if (told !== undefined) return told;
  // Metrics with other gates but not this one are those of a version without the gate.
  if (metrics?.has('kubernetes_feature_enabled')) return false;
  if (!isStraddle && ready && ready.checks.size > 0) return ready.checks.has(NATIVE_GATE_HOOK);
  const flags = processFlags(reading, isStraddle);
  return flags && gateInFlags(flags, GATE);
}

/**
 * Returns the flags of the process that has the address, as given on its command line: from /flagz, else from its pod. A
 * Straddle has no /flagz; the reply is that of the API server behind it.
 */
export function processFlags(
  { zpages, endpoint }: EndpointReading,
  isStraddle: boolean,
): ReadonlyMap<string, string> | undefined {
  const { page } = zpages.flagz;
  return page && !isStraddle ? givenFlags(page) : endpoint.pod?.flags;
}

export function kindText({ kind, active, passthrough }: Protection): string {
  if (passthrough) return `${kind}, passthrough`;
  if (kind === 'kube-apiserver') return active ? 'kube-apiserver, native proxy' : kind;
  return active === false ? `${kind}, proxy off` : kind;
}

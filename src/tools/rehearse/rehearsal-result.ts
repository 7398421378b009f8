/** The result of a rehearsal, printed by `-o json` after its verdict. Times in a half count from its start. */
export interface RehearsalResult {
  readonly from: string;
  readonly to: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly servers: number;
  /** The kind of servers: `straddle apiserver`, or `kube-apiserver behind straddle proxy`. */
  readonly made: string;
  readonly settings: RehearsalSettings;
  /** Everything that only one of the versions serves, and what was done with it. */
  readonly differences: readonly DifferenceUse[];
  /** Sentences about what was not exercised at all, with the reason. */
  readonly notes: readonly string[];
  /** Proxy off first, then on; or only one of them. */
  readonly halves: readonly HalfResult[];
}

/** How the rehearsal was run, so that it can be run again. Without commands and objects of the user, which may have secrets. */
export interface RehearsalSettings {
  /** Of the load between two steps. */
  readonly secondsPerStep: number;
  readonly settleSeconds: number;
  readonly requestsPerSecond: number;
  readonly clients: number;
  readonly controllers: 'plain' | 'none';
  /** The only difference that is exercised; absent if all are. */
  readonly skewed?: string;
  /** Number of objects of the user. */
  readonly manifests: number;
  /** Whether a program of the user ran meanwhile. */
  readonly exec: boolean;
}

/**
 * What a rehearsal does with a difference. `requests`: clients send requests for its objects. `watches`: clients watch them.
 * `owners`: its objects own others. `namespaces`: namespaces that have its objects are deleted.
 */
export const EXERCISES = ['requests', 'watches', 'owners', 'namespaces'] as const;
export type Exercise = (typeof EXERCISES)[number];

export interface DifferenceUse {
  /** As `straddle diff` writes it: `csinodes.v1.storage.k8s.io/status`. */
  readonly name: string;
  /** The version that serves it. */
  readonly servedBy: string;
  /** Empty if it is not exercised. */
  readonly exercises: readonly Exercise[];
  /** Why it is not exercised. */
  readonly reason?: string;
}

export interface HalfResult {
  readonly proxy: boolean;
  readonly durationMs: number;
  /** In the order in which they were done. */
  readonly steps: readonly RehearsalStep[];
  /** One for each second of the half, from 0. */
  readonly seconds: readonly SecondSample[];
  readonly findings: HalfFindings;
  /** The first few of each kind of failure, oldest first. */
  readonly examples: readonly Example[];
  /** Runs of the program of the user (`--exec`). */
  readonly exec: readonly ExecResult[];
  /** Objects of the skewed resources in the store after the last server that serves them was rolled back. */
  readonly leftInStore: number;
}

export interface RehearsalStep {
  /** `upgrade server-1 to 1.36`, `restart server-1`, `roll server-3 back to 1.35`, `hold`. */
  readonly name: string;
  readonly beginMs: number;
  readonly endMs: number;
  /** The server that is replaced, and the version that it has after the step; absent if none is. */
  readonly replaces?: { readonly server: string; readonly version: string };
}

export interface SecondSample {
  readonly requests: number;
  readonly wrong404s: number;
  readonly unavailable503s: number;
  readonly otherErrors: number;
  readonly discoveryFlaps: number;
  /** Latency of the successful requests of this second; undefined without any. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

export interface HalfFindings extends SceneCounts {
  readonly requests: number;
  /** 404s for objects that exist and that some server serves. */
  readonly wrong404s: number;
  readonly unavailable503s: number;
  /** Other failures: connections reset, timeouts, other 5xx. */
  readonly otherErrors: number;
  /** Reads of discovery by one client that lacked or regained something that had not changed. */
  readonly discoveryFlaps: number;
  /** Watches that were cut, refused as unknown, or lost events, although the resource is served. */
  readonly brokenWatches: number;
  readonly latency: Latency;
  /** Latency of requests for resources of all servers, and of some servers. */
  readonly latencyOfCommon: Latency;
  readonly latencyOfSkewed: Latency;
}

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Findings of the scenes. */
export interface SceneCounts {
  /** Objects that a garbage collector deleted although their owner exists, of all that were observed. */
  readonly collectedByMistake: Count;
  /** Objects that remain although their only owner was deleted. Slow, but no harm. */
  readonly notCollected: Count;
  /** Namespaces that were gone while objects of theirs stayed in the store. */
  readonly namespacesEndedEarly: Count;
  /** Namespaces that were still being deleted at the end of the half. */
  readonly namespacesStuck: Count;
}

export interface Count {
  readonly bad: number;
  readonly of: number;
}

export interface Example {
  readonly atMs: number;
  readonly kind:
    | 'wrong-404'
    | 'unavailable-503'
    | 'other-error'
    | 'collected-by-mistake'
    | 'namespace-ended-early'
    | 'namespace-stuck'
    | 'discovery-flap'
    | 'broken-watch';
  readonly text: string;
}

export interface ExecResult {
  readonly beginMs: number;
  readonly endMs: number;
  readonly exitCode: number;
  /** The last lines of its output. */
  readonly output: string;
}

/** Returns the number of harmful findings, which must be 0 with the proxy on. */
export function harmOf({ findings }: HalfResult): number {
  return (
    findings.wrong404s +
    findings.collectedByMistake.bad +
    findings.namespacesEndedEarly.bad +
    findings.namespacesStuck.bad +
    findings.discoveryFlaps
  );
}

/** What a whole rehearsal has shown; written as it is to `-o json`. Times in a half count from its start. */
export interface RehearsalResult {
  readonly from: string;
  readonly to: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly servers: number;
  /** What the servers are: `straddle apiserver`, or `kube-apiserver behind straddle proxy`. */
  readonly made: string;
  /** Proxy off first, then on; one of them where only that was asked for. */
  readonly halves: readonly HalfResult[];
}

export interface HalfResult {
  readonly proxy: boolean;
  readonly durationMs: number;
  /** The resource that only the newer version serves, and that everything was tried with: `podgroups.v1alpha2.scheduling.k8s.io`. */
  readonly skewed: string;
  /** In the order in which they were done. */
  readonly steps: readonly RehearsalStep[];
  /** One for each second of the half, from 0. */
  readonly seconds: readonly SecondSample[];
  readonly findings: HalfFindings;
  /** The first few of each kind of failure, oldest first. */
  readonly examples: readonly Example[];
  /** What the user's own program did, where one was given. */
  readonly exec: readonly ExecResult[];
  /** Objects of the skewed resource that stayed in the store when the last server that serves it had been rolled back. */
  readonly leftInStore: number;
}

export interface RehearsalStep {
  /** `upgrade server-1 to 1.36`, `restart server-1`, `roll server-3 back to 1.35`, `hold`. */
  readonly name: string;
  readonly beginMs: number;
  readonly endMs: number;
}

export interface SecondSample {
  readonly requests: number;
  readonly wrong404s: number;
  readonly unavailable503s: number;
  readonly otherErrors: number;
  readonly discoveryFlaps: number;
  /** Of the requests that were answered well in this second; undefined where there was none. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

export interface HalfFindings {
  readonly requests: number;
  /** A 404 for what exists and some server of the control plane serves. */
  readonly wrong404s: number;
  readonly unavailable503s: number;
  /** Neither of these two, and no answer either: cut connections, 5xx. */
  readonly otherErrors: number;
  /** Objects that the garbage collector deleted although their owner exists, of so many that were watched over. */
  readonly collectedByMistake: Count;
  /** Objects that stay although their only owner was deleted, of so many that should have gone. Slow, but no harm. */
  readonly notCollected: Count;
  /** Namespaces that were reported deleted while objects of theirs stayed in the store. */
  readonly namespacesEndedEarly: Count;
  /** Namespaces that were still being deleted at the end of the half. */
  readonly namespacesStuck: Count;
  /** How often one client's next look at discovery lacked or regained something that had not changed. */
  readonly discoveryFlaps: number;
  /** Watches that were cut, refused as unknown, or lost events, although what they watch is served. */
  readonly brokenWatches: number;
  readonly latency: { readonly p50Ms: number; readonly p99Ms: number };
  /** Of requests for what every server serves, and for what only some do (those are carried to a peer where the proxy is on). */
  readonly latencyOfCommon: { readonly p50Ms: number; readonly p99Ms: number };
  readonly latencyOfSkewed: { readonly p50Ms: number; readonly p99Ms: number };
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
  /** The last lines of what it said. */
  readonly output: string;
}

/** Harm that the proxy is there to prevent; all of it must be 0 with the proxy on. */
export function harmOf({ findings }: HalfResult): number {
  return (
    findings.wrong404s +
    findings.collectedByMistake.bad +
    findings.namespacesEndedEarly.bad +
    findings.namespacesStuck.bad +
    findings.discoveryFlaps
  );
}

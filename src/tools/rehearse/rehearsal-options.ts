import type { Clock } from '../../base/clock.js';
import type { JsonObject } from '../../kube/json.js';
import type { StartRehearsalPlane } from './rehearsal-plane.js';

export type HalfName = 'off' | 'on';

export interface RehearsalOptions {
  /** Minor versions: `1.35`, `1.36`. */
  readonly from: string;
  readonly to: string;
  /** How many API servers; two at least, or nothing is ever mixed. */
  readonly servers: number;
  readonly start: StartRehearsalPlane;
  /** For the report: `straddle apiserver`, or `kube-apiserver behind straddle proxy`. */
  readonly made: string;
  /** With the mixed version proxy off, on, or one after the other. */
  readonly halves: readonly HalfName[];
  /** The user's own definitions and objects, already parsed. What only `to` serves is created after the first upgrade. */
  readonly manifests: readonly JsonObject[];
  /** A command line of the user's, run by a shell with KUBECONFIG set, again and again while versions are rolled. */
  readonly exec?: string;
  /** How long the load goes on between two steps. */
  readonly secondsPerStep: number;
  /** How long what was deleted gets to go, before the last server leaves that knows it; 30 unless said otherwise. */
  readonly settleSeconds?: number;
  readonly load: LoadOptions;
  /** `plain`: the rehearsal's own, which know one version only, as most do. `none`: others run against the plane. */
  readonly controllers: 'plain' | 'none';
  /** `podgroups.v1alpha2.scheduling.k8s.io`; found out from the servers where it is not given. */
  readonly skewed?: string;
  readonly progress: (sentence: string) => void;
  /** Ends the rehearsal early: it then rejects, with nothing left running. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface LoadOptions {
  /** Of all clients together. */
  readonly requestsPerSecond: number;
  readonly clients: number;
}

export const REHEARSAL_DEFAULTS = {
  servers: 3,
  halves: ['off', 'on'],
  manifests: [],
  secondsPerStep: 8,
  load: { requestsPerSecond: 60, clients: 6 },
  controllers: 'plain',
} as const satisfies Partial<RehearsalOptions>;

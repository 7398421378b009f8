import type { Clock } from '../../base/clock.js';
import type { JsonObject } from '../../kube/json.js';
import type { StartRehearsalPlane } from './rehearsal-plane.js';

export type HalfName = 'off' | 'on';

export interface RehearsalOptions {
  /** Minor versions: `1.35`, `1.36`. */
  readonly from: string;
  readonly to: string;
  /** Number of API servers; at least two, or versions are never mixed. */
  readonly servers: number;
  readonly start: StartRehearsalPlane;
  /** For the report: `straddle apiserver`, or `kube-apiserver behind straddle proxy`. */
  readonly made: string;
  /** With the mixed version proxy off, on, or both one after the other. */
  readonly halves: readonly HalfName[];
  /** Further halves that are run after these, for the remaining time. Default: 0. */
  readonly halvesToFollow?: number;
  /** Objects of the user. Those that only `to` serves are created after the first upgrade. */
  readonly manifests: readonly JsonObject[];
  /** A shell command of the user, run again and again with KUBECONFIG set while versions are rolled. */
  readonly exec?: string;
  /** Duration of the load between two steps. */
  readonly secondsPerStep: number;
  /** Time for deleted objects to disappear before their last server leaves. Default: 30. */
  readonly settleSeconds?: number;
  readonly load: LoadOptions;
  /** `plain`: the plain controllers of the rehearsal. `none`: others run against the plane. */
  readonly controllers: 'plain' | 'none';
  /** The only difference to exercise: `podcertificaterequests.v1.certificates.k8s.io`. Default: all that can be. */
  readonly skewed?: string;
  readonly progress: (sentence: string) => void;
  /** Aborts the rehearsal, which then rejects with nothing left running. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface LoadOptions {
  /** Rate of all clients together. */
  readonly requestsPerSecond: number;
  readonly clients: number;
}

export const REHEARSAL_DEFAULTS = {
  servers: 3,
  halves: ['off', 'on'],
  manifests: [],
  secondsPerStep: 8,
  settleSeconds: 30,
  load: { requestsPerSecond: 60, clients: 6 },
  controllers: 'plain',
} as const satisfies Partial<RehearsalOptions>;

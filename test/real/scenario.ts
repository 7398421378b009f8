import type { Binary } from './rig/binaries.js';
import type { ControlPlane } from './rig/control-plane.js';
import type { Plane } from './rig/plane.js';

/** A client of others that a scenario has run, with its own version. */
export interface Client {
  readonly name: 'kubectl' | 'client-go informers' | '@kubernetes/client-node';
  readonly version: string;
}

/** Surroundings of a scenario. */
export interface ScenarioContext<P extends Plane = ControlPlane> {
  /** Shared by all scenarios: start with `plane.arrange(…)`, which heals whatever the one before left. */
  readonly plane: P;
  /** A new namespace with its default service account (no controller makes one here). */
  namespace(): Promise<string>;
  /** Runs when the scenario is over, passed or not, last registered first. */
  defer(cleanup: () => unknown): void;
  /** For docs/compatibility.md: this client did all that is asked of it, with the servers as they are arranged now. */
  worked(client: Client): void;
}

export interface Scenario {
  readonly number: number;
  readonly name: string;
  readonly timeoutMs?: number;
  /** What it runs beside etcd, the chosen kube-apiservers and the kubectl of the newest one. */
  programs?(): readonly Binary[];
  /** Throws Skipped where the chosen servers leave nothing to check. */
  run(context: ScenarioContext): Promise<void>;
}

/** The scenario makes no sense for the chosen servers; the message is the reason. */
export class Skipped extends Error {}

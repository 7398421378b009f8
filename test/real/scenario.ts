import type { ControlPlane } from './rig/control-plane.js';
import type { Plane } from './rig/plane.js';

/** Surroundings of a scenario. */
export interface ScenarioContext<P extends Plane = ControlPlane> {
  /** Shared by all scenarios: start with `plane.arrange(…)`, which heals whatever the one before left. */
  readonly plane: P;
  /** A new namespace with its default service account (no controller makes one here). */
  namespace(): Promise<string>;
  /** Runs when the scenario is over, passed or not, last registered first. */
  defer(cleanup: () => unknown): void;
}

export interface Scenario {
  readonly number: number;
  readonly name: string;
  readonly timeoutMs?: number;
  run(context: ScenarioContext): Promise<void>;
}

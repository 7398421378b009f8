import type { Destination } from '../../http/outgoing.js';

/** One server of the control plane, which can be replaced by one of another version at the same address. */
export interface Member {
  readonly name: string;
  /** What runs, or while it is replaced, what will. */
  readonly version: string;
  /** host:port where clients and the door reach it. */
  readonly address: string;
  /** To that address. */
  readonly destination: Destination;
  /** Undefined where it is not a process of ours, or not running. */
  readonly pid: number | undefined;
  /** Resolves when it is ready; rejects, with nothing left running, when it cannot be. */
  start(): Promise<void>;
  /** Resolves when it is ready in that version; rejects when it cannot be, with the version before running again if it can. */
  replace(version: string): Promise<void>;
  stop(): Promise<void>;
}

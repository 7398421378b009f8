import type { Destination } from '../../http/outgoing.js';

/** One server of the control plane, which can be replaced by one of another version at the same address. */
export interface Member {
  readonly name: string;
  /** The version that runs, or, during a replacement, the new one. */
  readonly version: string;
  /** host:port for clients and the door. */
  readonly address: string;
  /** Destination for `address`. */
  readonly destination: Destination;
  /** Undefined for a server that this program does not run, or that does not run. */
  readonly pid: number | undefined;
  /** Resolves when it is ready; else rejects, with nothing left running. */
  start(): Promise<void>;
  /** Resolves when it is ready; rejects with the previous version started again if possible. */
  replace(version: string): Promise<void>;
  stop(): Promise<void>;
}

import type { ForgetMark, Sighting } from './sightings.js';

/** A source of sightings: leases, EndpointSlices or flags. */
export interface PeerSource {
  readonly name: string;
  /**
   * Starts watching; called once. `onChange` is called after `sightings()`, `forgetMarks()` or
   * `answered()` has changed.
   */
  start(onChange: () => void): void;
  /** Returns all current sightings; while the source is unreachable, the last ones. */
  sightings(): readonly Sighting[];
  forgetMarks?(): readonly ForgetMark[];
  /** True after the first reply, also a refusal (403): there is nothing more to wait for. */
  answered(): boolean;
  close(): Promise<void>;
}

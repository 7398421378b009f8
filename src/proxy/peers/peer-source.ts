import type { ForgetMark, Sighting } from './sightings.js';

/** Somewhere that tells of servers. */
export interface PeerSource {
  readonly name: string;
  /** Starts looking. `onChange` is called after `sightings()`, `forgetMarks()` or `answered()` has changed. Once. */
  start(onChange: () => void): void;
  /** All that is seen now. While the source cannot be asked, what was seen last. */
  sightings(): readonly Sighting[];
  forgetMarks?(): readonly ForgetMark[];
  /** It has been asked and has answered, be it with a refusal: there is nothing more to wait for. */
  answered(): boolean;
  close(): Promise<void>;
}

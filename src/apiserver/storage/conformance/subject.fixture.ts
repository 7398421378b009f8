import type { Backend } from '../backend.js';

export interface BackendUnderTest {
  /** Opens the store under test; may be called several times, for the same store. */
  open(): Promise<Backend>;
  /** The largest value that the store takes. */
  readonly valueBytesMax: number;
}

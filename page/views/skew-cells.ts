import type { SkewCell } from '../../src/proxy/page/page-state.js';

/** A letter or shape for each state, so that colour is not needed; the sentence is about requests that arrive at the server. */
export const CELLS: Readonly<
  Record<SkewCell, { readonly letter: string; readonly word: string; readonly sentence: string }>
> = {
  served: { letter: '✓', word: 'served', sentence: 'served there' },
  rerouted: { letter: 'R', word: 'rerouted', sentence: 'rerouted by its Straddle to a server that has it' },
  held: { letter: 'H', word: 'held with 503', sentence: 'held with 503, because no live server has it' },
  stale: { letter: 'S', word: 'stale', sentence: 'stale: served when last seen, and the server does not answer now' },
  absent: { letter: '–', word: 'absent', sentence: 'absent: answered 404, nothing is known of a protection' },
};

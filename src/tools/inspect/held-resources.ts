import type { Surface } from '../../kube/surface.js';
import { missingFrom, unionOf, withoutParts } from '../../kube/surface-matrix.js';
import type { InspectedSurface } from './surfaces.js';

/** Returns what merged discovery shows and no server serves that could be asked: clients get 503 for it. */
export function heldResources(surfaces: readonly InspectedSurface[]): string[] {
  const live: Surface = unionOf(surfaces.map(({ local }) => local));
  const held = surfaces.flatMap(({ merged }) => (merged ? missingFrom(merged, live) : []));
  return withoutParts([...new Set(held)]);
}

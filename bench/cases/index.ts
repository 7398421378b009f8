import type { BenchCase } from '../bench-case.js';
import { bodies } from './bodies.js';
import { decision } from './decision.js';
import { discovery } from './discovery.js';
import { discovery2000Crds } from './discovery-2000-crds.js';
import { embedded } from './embedded.js';
import { growth } from './growth.js';
import { local } from './local.js';
import { nodeReleases } from './node-releases.js';
import { reroute } from './reroute.js';
import { watches } from './watches.js';
import { workers } from './workers.js';

/** All cases, in the order of runs and reports. */
export const CASES: readonly BenchCase[] = [
  reroute,
  local,
  workers,
  nodeReleases,
  discovery,
  decision,
  bodies,
  watches,
  embedded,
  discovery2000Crds,
  growth,
];

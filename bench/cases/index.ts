import type { BenchCase } from '../bench-case.js';
import { discovery2000Crds } from './discovery-2000-crds.js';

/** In running order. A new case is a file and a line here. */
export const CASES: readonly BenchCase[] = [discovery2000Crds];

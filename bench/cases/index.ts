import type { BenchCase } from '../bench-case.js';
import { discovery2000Crds } from './discovery-2000-crds.js';
import { embedded } from './embedded.js';

export const CASES: readonly BenchCase[] = [embedded, discovery2000Crds];

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/integration/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    // By default one core of two is left idle, and the whole takes twice as long.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});

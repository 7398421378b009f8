import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'page/**/*.test.ts',
      'scripts/**/*.test.ts',
      'test/integration/**/*.test.ts',
      'test/interop/**/*.test.ts',
      'test/deploy/**/*.test.ts',
      'test/kubeadm/**/*.test.ts',
      'test/real/**/*.test.ts',
      'examples/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    // Examples import Straddle by its name, as anybody would; here that means the sources, not what was built last.
    alias: { 'straddle/testing': fileURLToPath(new URL('./src/tools/testing/index.ts', import.meta.url)) },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    // By default one core of two is left idle, and the whole takes twice as long.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});

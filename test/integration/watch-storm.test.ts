import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { watchStorm } from './watch-storm/storm.js';
import { ServerProcess } from './watch-storm/storm-server.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'straddle-storm-'));
let server: ServerProcess | undefined;

afterEach(async () => {
  await server?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('informers and watches while objects change and the server is killed', () => {
  it('miss nothing, see nothing twice, and see everything in order', { timeout: 120_000 }, async () => {
    server = await ServerProcess.start({ program: ['--import', 'tsx', MAIN], dataDir });
    const result = await watchStorm(server, {
      objects: 300,
      ratePerSecond: 200,
      forMs: 3_000,
      killAfterMs: 1_000,
      informers: [3],
      rawWatchers: [12],
    });
    expect(result.watchers).toBe(15);
    expect(result.events).toBeGreaterThan(20);
  });
});

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { watchStorm } from '../../integration/watch-storm/storm.js';
import { ServerProcess } from '../../integration/watch-storm/storm-server.js';
import { straddleProgram } from '../rig/program.js';
import type { Scenario } from '../scenario.js';

const OBJECTS = 10_000;
const CHANGES_PER_SECOND = 1_000;
const STORM_MS = 20_000;
const KILL_AFTER_MS = 8_000;
/** Ten informers in two processes, ninety watches without a library in two more. */
const INFORMERS = [5, 5];
const RAW_WATCHERS = [45, 45];

/** How much of the rate must be reached, and how late events may be; a busy machine may ask for less. */
const RATE_FRACTION_MIN = Number(process.env['STRADDLE_STORM_RATE_MIN'] ?? '0');

export const informers: Scenario = {
  number: 23,
  name: '100 watchers of 10,000 objects under 1,000 changes a second, the server killed meanwhile: none missed, none twice',
  timeoutMs: 300_000,
  async run({ plane, defer }) {
    const dataDir = join(plane.dir, 'informers');
    mkdirSync(dataDir, { recursive: true });
    const server = await ServerProcess.start({ program: straddleProgram(), dataDir });
    defer(() => server.kill());
    const result = await watchStorm(server, {
      objects: OBJECTS,
      ratePerSecond: CHANGES_PER_SECOND,
      forMs: STORM_MS,
      killAfterMs: KILL_AFTER_MS,
      informers: INFORMERS,
      rawWatchers: RAW_WATCHERS,
    });
    process.stdout.write(`        ${JSON.stringify(result)}\n`);
    assert.equal(result.watchers, 100);
    assert.ok(
      result.changesPerSecond >= CHANGES_PER_SECOND * RATE_FRACTION_MIN,
      `${result.changesPerSecond.toFixed(0)} changes a second`,
    );
  },
};

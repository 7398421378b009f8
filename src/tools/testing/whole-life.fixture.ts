import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { openWatch } from './ask.fixture.js';
import { startControlPlane } from './index.js';

/** What a test file does that ends no process by force: all of it must be over after `close`. */
const plane = await startControlPlane({ versions: ['1.35', '1.36'] });
const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('straddle-testing-'));
process.stdout.write(`started ${folders.length}\n`);
const watch = await openWatch(plane, 'server-1', '/api/v1/pods');
await plane.kill('server-2');
plane.partition(['server-1'], ['front'], { connections: 'hang' });
await plane.close();
await watch.ended;
process.stdout.write('closed\n');

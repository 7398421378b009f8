import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { describeBackend } from '../../conformance/describe-backend.fixture.js';
import { openEmbeddedBackend } from './embedded-backend.js';

const dataDir = await mkdtemp(join(tmpdir(), 'straddle-embedded-'));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

describeBackend('the embedded engine', {
  open: () => openEmbeddedBackend({ dataDir }),
  valueBytesMax: 4 * 2 ** 20,
});

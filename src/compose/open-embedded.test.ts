import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createLogger } from '../base/logger.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { ConfigError } from './config/config-error.js';
import { openEmbedded } from './open-embedded.js';

const dir = mkdtempSync(join(tmpdir(), 'straddle-open-'));
const logger = createLogger({ level: 'error', format: 'text', write: () => {}, nowMs: () => 0 });
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('openEmbedded', () => {
  it('rejects with one sentence if --surface-file has a newer format, and creates no files', async () => {
    const surfaceFile = join(dir, 'later.json');
    writeFileSync(surfaceFile, JSON.stringify({ format: 7 }));
    const config = { surfaceFile, dataDir: dir, pkiDir: join(dir, 'pki') } as ApiServerConfig;
    const refusal = await openEmbedded(config, logger).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as ConfigError).problems).toEqual([
      `--surface-file: ${surfaceFile} has the surface format 7 of a newer Straddle, and this one reads format 1: run that newer Straddle, or capture it again with \`straddle surface capture --output=${surfaceFile}\`.`,
    ]);
    expect(readdirSync(dir)).toEqual(['later.json']);
  });
});

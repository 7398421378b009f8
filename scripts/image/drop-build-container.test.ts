import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { rewriteConfig } from './drop-build-container.js';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** A folder with an image that was assembled in this container, after the program has rewritten it. */
function rewritten(container: string): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'straddle-dir-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = JSON.stringify({
    container,
    container_config: { Hostname: container },
    config: { Hostname: container, User: '65532', Healthcheck: { Test: ['CMD', 'straddle', 'probe'] } },
    os: 'linux',
  });
  const digest = hashOf(config);
  const layers = [{ size: 1, digest: 'sha256:1' }];
  writeFileSync(join(folder, digest), config);
  const manifest = {
    schemaVersion: 2,
    config: { mediaType: 'm', size: config.length, digest: `sha256:${digest}` },
    layers,
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  rewriteConfig(folder);
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

it('images that were assembled in different containers become the same, with everything else in them', () => {
  const files = rewritten('3aa289de195b');
  expect(rewritten('6dd20467f9b6')).toEqual(files);
  const { config, layers, ...rest } = JSON.parse(files['manifest.json']!);
  const name = config.digest.slice('sha256:'.length);
  expect(hashOf(files[name]!)).toBe(name);
  expect(config).toEqual({ mediaType: 'm', size: files[name]!.length, digest: config.digest });
  expect(JSON.parse(files[name]!)).toEqual({
    config: { User: '65532', Healthcheck: { Test: ['CMD', 'straddle', 'probe'] } },
    os: 'linux',
  });
  expect([layers, rest]).toEqual([[{ size: 1, digest: 'sha256:1' }], { schemaVersion: 2 }]);
  expect(Object.keys(files).sort()).toEqual([name, 'manifest.json'].sort());
});

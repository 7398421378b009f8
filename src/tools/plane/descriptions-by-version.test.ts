import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { descriptionsByVersion } from './descriptions-by-version.js';

const dir = mkdtempSync(join(tmpdir(), 'straddle-described-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function written(name: string, version: string): string {
  const file = join(dir, name);
  const tables = { objects: {}, lists: {}, parameters: {}, types: {} };
  writeFileSync(file, JSON.stringify({ descriptionsFormat: 1, capturedFrom: `v${version}.0`, version, ...tables }));
  return file;
}

it('gives each version the descriptions file that was captured from it', async () => {
  const [older, newer] = [written('older.json', '1.35'), written('newer.json', '1.36')];
  expect([...(await descriptionsByVersion([older, newer]))]).toEqual([
    ['1.35', older],
    ['1.36', newer],
  ]);
});

it('refuses two descriptions files of one version, and one that cannot be read', async () => {
  const [one, two] = [written('one.json', '1.36'), written('two.json', '1.36')];
  await expect(descriptionsByVersion([one, two])).rejects.toThrow(
    `--descriptions-file: ${one} and ${two} both have the descriptions of 1.36: give one of them.`,
  );
  await expect(descriptionsByVersion([dir])).rejects.toThrow(
    `--descriptions-file: ${dir} cannot be used (illegal operation on a directory, EISDIR).`,
  );
});

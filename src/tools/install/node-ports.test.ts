import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockMachine, resolveName } from './node-ports.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'straddle-lock-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe.skipIf(process.platform !== 'linux')('lockMachine (skipped where there are no abstract sockets)', () => {
  it('refuses a second change of one machine, also under another path, until the first is done', async () => {
    const root = folder();
    const unlock = await lockMachine(root);
    await expect(lockMachine(`${root}/.`)).rejects.toThrow(/^Another straddle install or uninstall is changing this/);
    (await lockMachine(folder()))();
    unlock();
    (await lockMachine(root))();
  });
});

describe('resolveName', () => {
  it('returns the addresses of a name, and none for a name that has none', async () => {
    expect(['127.0.0.1', '::1']).toContain((await resolveName('localhost'))[0]);
    expect(await resolveName('straddle.invalid')).toEqual([]);
  });
});

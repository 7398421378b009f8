import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StateFile } from './state-file.js';

const BYTES_MAX = 16;

let dir: string;
let path: string;
let file: StateFile;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'straddle-state-file-'));
  path = join(dir, 'made', 'state');
  file = new StateFile(path, BYTES_MAX);
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const tooLarge = () => 'x'.repeat(BYTES_MAX + 1);

describe('StateFile', () => {
  it('makes the folder and the file, replaces and removes it, and leaves no draft', async () => {
    expect(await file.read()).toBe(undefined);
    await file.write(() => 'one');
    await file.write(() => 'two');
    expect(await file.read()).toBe('two');
    expect(readdirSync(join(dir, 'made'))).toEqual(['state']);
    await file.write(() => undefined);
    await file.write(() => undefined);
    expect(existsSync(path)).toBe(false);
  });

  it('carries out only the last of the writes that wait', async () => {
    const made: string[] = [];
    const write = (text: string) =>
      file.write(() => {
        made.push(text);
        return text;
      });
    await Promise.all(['one', 'two', 'three'].map(write));
    expect(made).toEqual(['one', 'three']);
    expect(readFileSync(path, 'utf8')).toBe('three');
  });

  it('carries out a write that waits for one that fails', async () => {
    const failing = file.write(tooLarge);
    const waiting = file.write(() => 'fits');
    await Promise.all([failing, waiting]);
    expect(await file.read()).toBe('fits');
  });

  it('rejects if the last write failed, keeps the text before it, and writes again', async () => {
    await file.write(() => 'one');
    const fitting = file.write(() => 'two');
    const failing = file.write(tooLarge);
    await expect(Promise.all([fitting, failing])).rejects.toThrow('state would be larger than 16 bytes');
    expect(await file.read()).toBe('two');
    await file.write(() => 'three');
    expect(await file.read()).toBe('three');
  });

  it.runIf(existsSync('/dev/full'))('rejects while the disk is full, keeps the text, and leaves no draft', async () => {
    await file.write(() => 'one');
    symlinkSync('/dev/full', `${path}.${process.pid}.new`);
    await expect(file.write(() => 'two')).rejects.toThrow('ENOSPC');
    expect(await file.read()).toBe('one');
    expect(readdirSync(join(dir, 'made'))).toEqual(['state']);
    await file.write(() => 'three');
    expect(await file.read()).toBe('three');
  });
});

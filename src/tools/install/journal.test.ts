import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HostFiles } from './host-files.js';
import { beginJournal } from './journal.js';

describe('beginJournal', () => {
  it('reports why the first folder could not be created, and leaves nothing', () => {
    const root = mkdtempSync(join(tmpdir(), 'straddle-journal-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    mkdirSync(join(root, 'etc'));
    writeFileSync(join(root, 'etc/kubernetes'), 'a file');
    const change = { path: '/a', before: undefined, after: 'x', why: '' };
    expect(() => beginJournal(new HostFiles(root), [change], [])).toThrow(
      '/etc/kubernetes/straddle cannot be created (ENOTDIR).',
    );
    expect(readdirSync(join(root, 'etc'))).toEqual(['kubernetes']);
  });
});

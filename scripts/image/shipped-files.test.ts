import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LockFile } from '../lock-integrity.js';
import { bundledPackages, productionPackages } from './production-packages.js';
import { runProgram } from './run-program.js';
import { bytesBelow, settleFiles } from './settle-files.js';
import { copySources, sourceState } from './source-state.js';
import { noticesText, packageNotices } from './third-party-notices.js';
import { removeUnusedFiles } from './unused-files.js';

const ROOT = join(import.meta.dirname, '../..');
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as LockFile;
/** Of this machine, because the texts are read from node_modules. */
const packages = [
  ...productionPackages(lock, { os: process.platform, cpu: process.arch, libc: 'glibc' }),
  ...bundledPackages(lock),
];

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'straddle-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

describe('the notices of licences', () => {
  it('have each package of the lock file that is shipped, with the text of its licence', () => {
    const notices = packageNotices(packages, ROOT);
    const text = noticesText(notices);
    for (const { name, version } of packages) expect(text).toContain(`\n${name} ${version}`);
    for (const { title, texts } of notices) expect([title, texts.join().length > 200]).toEqual([title, true]);
  });

  it('have the licences of the sources that a native module is built from', () => {
    const [lmdb] = packageNotices(
      packages.filter(({ name }) => name === 'lmdb'),
      ROOT,
    );
    expect(lmdb?.texts.join()).toMatch(/OpenLDAP Public License/i);
    expect(lmdb?.texts.join()).toMatch(/LZ4/i);
  });

  it('are refused for a package without a licence, or of another version', () => {
    const [one] = packages;
    const made = { ...one!, name: 'made-up', path: 'node_modules/made-up' };
    const manifest = JSON.stringify({ version: one!.version, license: 'MIT' });
    const folder = folderWith({ 'node_modules/made-up/package.json': manifest });
    expect(() => packageNotices([made], folder)).toThrow('node_modules/made-up has no file with its licence');
    expect(() => packageNotices([{ ...made, version: '9.9.9' }], folder)).toThrow('but 9.9.9 in package-lock.json');
  });
});

describe('the files that are shipped', () => {
  it('are without declarations, source maps and native modules for other releases of Node.js', () => {
    const native = (name: string) => `node_modules/@lmdb/lmdb-linux-x64/node.${name}.node`;
    const kept = ['dist/main.js', 'dist/data.json', native('napi.glibc'), native('abi137.glibc')];
    const removed = [
      'dist/main.d.ts',
      'dist/main.js.map',
      'node_modules/lmdb/dependencies/lmdb/mdb.c',
      'node_modules/.package-lock.json',
      native('abi127.glibc'),
      native('napi.musl'),
    ];
    const folder = folderWith(Object.fromEntries([...kept, ...removed].map((path) => [path, ''])));
    removeUnusedFiles(folder, '137');
    expect(kept.filter((path) => existsSync(join(folder, path)))).toEqual(kept);
    expect(removed.filter((path) => existsSync(join(folder, path)))).toEqual([]);
  });

  it('have modes and times that do not depend on the umask and the clock', () => {
    const folder = folderWith({ 'a/file': 'x', 'a/program': 'yy' });
    runProgram('chmod', ['700', join(folder, 'a'), join(folder, 'a/program')]);
    runProgram('chmod', ['600', join(folder, 'a/file')]);
    symlinkSync('file', join(folder, 'a/link'));
    settleFiles(folder, 1_000_000_000);
    const modes = ['a', 'a/file', 'a/program'].map((path) => (statSync(join(folder, path)).mode & 0o7777).toString(8));
    expect(modes).toEqual(['755', '644', '755']);
    expect(statSync(join(folder, 'a')).mtimeMs).toBe(1_000_000_000_000);
    expect(statSync(join(folder, 'a/file')).mtimeMs).toBe(1_000_000_000_000);
    expect(bytesBelow(folder)).toBe(3 + 'file'.length);
  });
});

describe('the state of the sources', () => {
  function repository(): string {
    const folder = folderWith({ 'a.txt': '1', '.gitignore': 'dist/\nnode_modules\n', 'dist/old.js': 'stale' });
    const git = (...args: string[]) =>
      runProgram('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args]);
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message=first', '--date=2026-01-01T00:00:00Z');
    return folder;
  }

  it('is the commit, and says so when files differ from it', () => {
    const folder = repository();
    const { revision, epoch } = sourceState(folder);
    expect(revision).toMatch(/^[0-9a-f]{40}$/);
    expect(epoch).toBe(Number(runProgram('git', ['-C', folder, 'log', '-1', '--format=%ct'])));
    writeFileSync(join(folder, 'a.txt'), '2');
    expect(sourceState(folder).revision).toBe(`${revision}+changes`);
  });

  it('takes the time from SOURCE_DATE_EPOCH', () => {
    const folder = repository();
    onTestFinished(() => void delete process.env['SOURCE_DATE_EPOCH']);
    process.env['SOURCE_DATE_EPOCH'] = '1700000000';
    expect(sourceState(folder).epoch).toBe(1_700_000_000);
    process.env['SOURCE_DATE_EPOCH'] = 'yesterday';
    expect(() => sourceState(folder)).toThrow('SOURCE_DATE_EPOCH is "yesterday": give it seconds since 1970.');
  });

  it('is refused where there is no commit', () => {
    expect(() => sourceState(folderWith({ 'a.txt': '1' }))).toThrow('is not a checkout with a commit');
  });

  it('is copied without what git ignores and what was deleted', () => {
    const folder = repository();
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'new.txt'), '3');
    rmSync(join(folder, 'a.txt'));
    const target = folderWith({});
    copySources(folder, target);
    expect(readdirSync(target).sort()).toEqual(['.gitignore', 'new.txt', 'node_modules']);
  });
});

describe('the launcher', () => {
  /** With the Node.js that runs the test. */
  function installation(): string {
    const folder = folderWith({
      'lib/straddle/bin/straddle.js': 'console.log(JSON.stringify(process.argv.slice(2)))',
    });
    symlinkSync(process.execPath, join(folder, 'lib/node'));
    mkdirSync(join(folder, 'bin'));
    copyFileSync(join(import.meta.dirname, 'launcher.sh'), join(folder, 'bin/straddle'));
    runProgram('chmod', ['755', join(folder, 'bin/straddle')]);
    return folder;
  }

  const run = (program: string) => {
    const { stdout, stderr, status } = spawnSync(program, ['proxy', '--a=b c'], {
      env: { PATH: '' },
      encoding: 'utf8',
    });
    return { said: stdout + stderr, status };
  };
  const expected = { said: '["proxy","--a=b c"]\n', status: 0 };

  it('runs the program beside it with an empty PATH, also through a link', () => {
    const folder = installation();
    expect(run(join(folder, 'bin/straddle'))).toEqual(expected);
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync('../bin/straddle', join(folder, 'elsewhere/straddle'));
    expect(run(join(folder, 'elsewhere/straddle'))).toEqual(expected);
  });
});

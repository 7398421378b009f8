import {
  chmodSync,
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
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HostFiles } from './host-files.js';

const OTHER = '/dev/shm';
const hasOtherFileSystem = existsSync(OTHER) && statSync(OTHER).dev !== statSync(tmpdir()).dev;

function machine() {
  const root = mkdtempSync(join(tmpdir(), 'straddle-files-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return { root, files: new HostFiles(root) };
}

describe('HostFiles', () => {
  it('replaces a file in one step and keeps its mode', () => {
    const { root, files } = machine();
    writeFileSync(join(root, 'a'), 'old', { mode: 0o640 });
    files.replace('/a', 'new');
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('new');
    expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o640);
    expect(readdirSync(root)).toEqual(['a']);
  });

  it('creates files for their owner only, and removes the draft of an earlier run', () => {
    const { root, files } = machine();
    writeFileSync(join(root, '.b.straddle-draft'), 'half');
    files.replace('/b', 'x');
    expect(statSync(join(root, 'b')).mode & 0o777).toBe(0o600);
    expect(readdirSync(root)).toEqual(['b']);
  });

  it('leaves no draft and the old content where a file cannot be replaced', () => {
    const { root, files } = machine();
    mkdirSync(join(root, 'folder/sub'), { recursive: true });
    expect(() => files.replace('/folder', 'x')).toThrow(/^\/folder cannot be written \(EISDIR|ENOTEMPTY|EEXIST\)/);
    expect(readdirSync(root)).toEqual(['folder']);
    expect(() => files.replace('/none/x', 'x')).toThrow('/none/x cannot be written (ENOENT).');
  });

  it('puts a backup back without another copy of it, with its mode', () => {
    const { root, files } = machine();
    writeFileSync(join(root, 'backup'), 'old', { mode: 0o640 });
    writeFileSync(join(root, 'a'), 'new');
    files.putBack('/backup', '/a');
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('old');
    expect(statSync(join(root, 'a'))).toMatchObject({ ino: statSync(join(root, 'backup')).ino });
    expect(readdirSync(root).sort()).toEqual(['a', 'backup']);
  });

  it.skipIf(!hasOtherFileSystem)(`copies a backup of another file system (skipped where ${OTHER} is none)`, () => {
    const { root } = machine();
    const other = mkdtempSync(join(OTHER, 'straddle-files-'));
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    writeFileSync(join(other, 'backup'), 'old', { mode: 0o640 });
    new HostFiles('/').putBack(join(other, 'backup'), join(root, 'a'));
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('old');
    expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o640);
    expect(readdirSync(root)).toEqual(['a']);
  });

  it('leaves a file as it is where its backup is gone', () => {
    const { root, files } = machine();
    writeFileSync(join(root, 'a'), 'new');
    expect(() => files.putBack('/backup', '/a')).toThrow('/backup cannot be read (ENOENT).');
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('new');
    expect(readdirSync(root)).toEqual(['a']);
  });

  it('gives a backup the mode of its original', () => {
    const { root, files } = machine();
    writeFileSync(join(root, 'a'), 'x', { mode: 0o644 });
    files.replace('/backup', 'x', '/a');
    expect(statSync(join(root, 'backup')).mode & 0o777).toBe(0o644);
  });

  it('removes what is not there without an error', () => {
    const { files } = machine();
    expect(() => files.remove('/none')).not.toThrow();
    expect(() => files.remove('/none/x')).not.toThrow();
  });

  it('reads nothing for a missing file, and refuses links, folders and large files', () => {
    const { root, files } = machine();
    writeFileSync(join(root, 'large'), 'x'.repeat((1 << 20) + 1));
    symlinkSync('large', join(root, 'link'));
    mkdirSync(join(root, 'folder'));
    expect(files.read('/none')).toBeUndefined();
    expect(files.read('/large/none')).toBeUndefined();
    expect(() => files.read('/link')).toThrow('/link is not a regular file.');
    expect(() => files.read('/folder')).toThrow('/folder is not a regular file.');
    expect(() => files.read('/large')).toThrow('/large is larger than');
  });

  it('follows links below its own root, and refuses links that go round', () => {
    const { root, files } = machine();
    mkdirSync(join(root, 'pki/current'), { recursive: true });
    writeFileSync(join(root, 'pki/current/a'), 'x');
    symlinkSync('/pki/current', join(root, 'link'));
    symlinkSync('../link/./a', join(root, 'pki/b'));
    symlinkSync('/round', join(root, 'round'));
    symlinkSync('/../../pki/b', join(root, 'out'));
    expect(files.readLinked('/link/a')).toBe('x');
    expect(files.readLinked('/pki/b')).toBe('x');
    expect(files.readLinked('/out')).toBe('x');
    expect(files.readLinked('/link/none')).toBeUndefined();
    expect(() => files.readLinked('/round')).toThrow('/round has more than 40 symbolic links.');
  });

  it('stays below its root, also where folders are absolute links or a path leads upwards', () => {
    const { root, files } = machine();
    const outside = mkdtempSync(join(tmpdir(), 'straddle-outside-'));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    mkdirSync(join(root, 'srv'));
    mkdirSync(join(root, outside), { recursive: true });
    symlinkSync(outside, join(root, 'etc'));
    files.makeFolder('/etc/backup');
    files.replace('/etc/backup/a', 'x');
    files.replace(`/../${'../'.repeat(20)}srv/b`, 'y');
    expect(readdirSync(outside)).toEqual([]);
    expect(readFileSync(join(root, outside, 'backup/a'), 'utf8')).toBe('x');
    expect(readFileSync(join(root, 'srv/b'), 'utf8')).toBe('y');
    expect(files.list('/etc')).toEqual(['backup']);
    expect(() => files.read('/..')).toThrow('/.. is not a regular file.');
  });

  it('refuses a file that is not UTF-8, and keeps a byte order mark', () => {
    const { root, files } = machine();
    writeFileSync(join(root, 'latin'), Buffer.from('# Gr\xf6\xdfe\n', 'latin1'));
    writeFileSync(join(root, 'marked'), '\ufeffa: 1\n');
    expect(() => files.read('/latin')).toThrow('/latin is not text in UTF-8.');
    expect(files.readLinked('/latin')).toBe('# Gr\ufffd\ufffde\n');
    files.replace('/copy', files.read('/marked')!);
    expect(readFileSync(join(root, 'copy'))).toEqual(readFileSync(join(root, 'marked')));
  });

  it('returns the folders that it creates, and removes only empty ones', () => {
    const { root, files } = machine();
    mkdirSync(join(root, 'a'));
    symlinkSync('a', join(root, 'link'));
    expect(files.makeFolder('/link')).toEqual([]);
    expect(files.makeFolder('/a/b/c')).toEqual(['/a/b', '/a/b/c']);
    expect(files.makeFolder('/a/b/c')).toEqual([]);
    files.removeEmptyFolder('/a/b');
    files.removeEmptyFolder('/a/b/c');
    files.removeEmptyFolder('/a/none');
    expect(files.hasFolder('/a/b')).toBe(true);
    expect(files.hasFolder('/a/b/c')).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)(
    'names the missing right and the next step (skipped for root, who has every right)',
    () => {
      const { root, files } = machine();
      mkdirSync(join(root, 'closed'));
      chmodSync(join(root, 'closed'), 0o500);
      expect(() => files.checkWritable('/closed/x/y')).toThrow(
        '/closed cannot be written to (EACCES; run this as root).',
      );
    },
  );
});

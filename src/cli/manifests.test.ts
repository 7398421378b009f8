import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../compose/config/config-error.js';
import { readManifests } from './manifests.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'straddle-manifests-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
}

function names(path = dir): unknown[] {
  return readManifests(path).map((object) => (object['metadata'] as { name: string }).name);
}

function problems(path = dir): readonly string[] {
  try {
    readManifests(path);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((each) => each.replaceAll(dir, 'DIR'));
    throw error;
  }
  return [];
}

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;

describe('files of --manifests', () => {
  it('are read from a folder and its folders in the order of their paths', () => {
    write({
      'b/2.yml': map('four'),
      'b/1.yaml': map('three'),
      'a.yaml': `${map('one')}---\n${map('two')}`,
      'z.json': JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'five' } }),
      'notes.txt': 'not: [for us',
      '.git/config.yaml': 'not: [for us',
    });
    expect(names()).toEqual(['one', 'two', 'three', 'four', 'five']);
    expect(names(join(dir, 'b'))).toEqual(['three', 'four']);
    expect(names(join(dir, 'a.yaml'))).toEqual(['one', 'two']);
  });

  it('may have empty documents, comments, directives, document ends and Windows line ends', () => {
    write({
      'a.yaml': `%YAML 1.2\n# first\n---\n# nothing\n---\n${map('one')}...\n--- # two\n${map('two')}---\n`,
      'b.yaml': map('three').replaceAll('\n', '\r\n'),
      'c.yaml': `\uFEFF${map('four')}`,
      'd.yaml': '',
      'e.yaml': '# only a comment\n',
    });
    expect(names()).toEqual(['one', 'two', 'three', 'four']);
  });

  it('that contain a List are read as its items', () => {
    const item = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });
    const inner = { apiVersion: 'v1', kind: 'SecretList', items: [item('b')] };
    write({ 'a.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item('a'), inner] }) });
    expect(names()).toEqual(['a', 'b']);
  });

  it('keep scalars such as dates and yes as text', () => {
    write({ 'a.yaml': `${map('one')}data:\n  day: 2020-01-01\n  on: yes\n  block: |\n    a\n    --- b\n` });
    expect(readManifests(dir)[0]!['data']).toEqual({ day: '2020-01-01', on: 'yes', block: 'a\n--- b\n' });
  });

  it('with errors are refused with file and line, all at once', () => {
    write({
      'a.yaml': `${map('one')}---\n${map('two')} bad: indentation\n`,
      'b.yaml': `# a comment\n\nmetadata:\n  name: x\n`,
      'c.yaml': `${map('c')}---\n\napiVersion: v1\nkind: ConfigMap\n`,
      'd.json': '{"apiVersion": "v1",\n "kind" "x"}',
      'e.yaml': '- 1\n',
      'f.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [{}] }),
    });
    const found = problems();
    expect(found[0]).toMatch(/^--manifests: DIR\/a\.yaml:10: .*indentation/);
    expect(found[1]).toBe('--manifests: DIR/b.yaml:3: an object needs apiVersion and kind.');
    expect(found[2]).toMatch(/^--manifests: DIR\/c\.yaml:7: ConfigMap needs metadata\.name/);
    expect(found[3]).toMatch(/^--manifests: DIR\/d\.json:2: /);
    expect(found[4]).toMatch(/^--manifests: DIR\/e\.yaml:1: this is not an object/);
    expect(found[5]).toBe('--manifests: DIR/f.json:1: items[0]: an object needs apiVersion and kind.');
    for (const each of found) expect(each).not.toContain('\n');
  });

  it('that are missing, empty or cyclic are refused with one sentence', () => {
    expect(problems(join(dir, 'nowhere'))).toEqual([
      '--manifests: DIR/nowhere cannot be read (no such file or directory, ENOENT).',
    ]);
    expect(problems()).toEqual(['--manifests: DIR holds no objects; give files that end in .yaml, .yml or .json.']);
    symlinkSync(dir, join(dir, 'again'));
    expect(problems()[0]).toMatch(/is too deep; at most 16 folders may be nested\.$/);
  });

  it('with many problems show the first ones only', () => {
    write({ 'a.yaml': 'x: 1\n---\n'.repeat(30) });
    expect(problems()).toHaveLength(11);
    expect(problems().at(-1)).toBe('--manifests: 20 more problems are not shown.');
  });
});

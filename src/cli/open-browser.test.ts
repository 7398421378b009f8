import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser } from './open-browser.js';

const ADDRESS = 'http://0123.localhost:8080/open/the-secret';

let directory: string;
let environment: Record<string, string>;
let started: { readonly program: string; readonly argument: string }[];

const opened = (start = (program: string, argument: string) => void started.push({ program, argument })) =>
  openBrowser(ADDRESS, { environment }, start);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'open-browser-test-'));
  started = [];
  const TMPDIR = join(directory, 'tmp');
  mkdirSync(TMPDIR);
  for (const program of ['xdg-open', 'open']) writeFileSync(join(directory, program), '#!/bin/sh\n', { mode: 0o755 });
  environment = { PATH: directory, DISPLAY: ':0', TMPDIR };
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('opening the browser', () => {
  it('gives no secret as an argument, which all users of a machine see, but a file that only its user may read', () => {
    opened();
    expect(started).toHaveLength(1);
    const [{ argument }] = started as [(typeof started)[number]];
    expect(argument).toMatch(/^file:\/\//);
    expect(argument).not.toContain('the-secret');
    const file = fileURLToPath(argument);
    expect(readFileSync(file, 'utf8')).toContain(`content="0;url=${ADDRESS}"`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  });

  it('removes the file and its directory at the end', () => {
    const forget = opened();
    expect(readdirSync(environment['TMPDIR']!)).toHaveLength(1);
    forget();
    expect(readdirSync(environment['TMPDIR']!)).toEqual([]);
    forget();
  });

  it('leaves no file where the program cannot be started', () => {
    opened(() => {
      throw new Error('no more processes');
    });
    expect(readdirSync(environment['TMPDIR']!)).toEqual([]);
  });

  it.each<[string, () => void]>([
    ['there is no such program', () => Object.assign(environment, { PATH: join(directory, 'tmp') })],
    ['no file can be written', () => Object.assign(environment, { TMPDIR: join(directory, 'missing') })],
  ])('does nothing where %s', (_, change) => {
    change();
    opened()();
    expect(started).toEqual([]);
    expect(existsSync(join(directory, 'missing'))).toBe(false);
  });
});

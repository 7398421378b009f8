import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../base/logger.js';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import type { PassthroughState } from './passthrough.js';
import { PassthroughSwitch } from './passthrough-switch.js';

let dir: string;
let file: string;
let clock: ManualClock;
let log: { level: string; msg: string; [field: string]: unknown }[];
const opened: PassthroughSwitch[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'straddle-passthrough-'));
  file = join(dir, 'state', 'passthrough');
  clock = new ManualClock(Date.now());
  log = [];
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function open(path: string | null = file): Promise<PassthroughSwitch> {
  const logger = createLogger({
    level: 'info',
    format: 'json',
    write: (line) => log.push(JSON.parse(line)),
    nowMs: () => clock.nowMs(),
  });
  const made = await PassthroughSwitch.open({ file: path ?? undefined, clock, logger });
  opened.push(made);
  return made;
}

/** Advances the clock until a look at the file has had its effect; returns the time that took by the clock. */
async function within(condition: () => boolean): Promise<number> {
  const begunMs = clock.nowMs();
  await until(async () => {
    if (!condition()) await clock.advance(50);
    return condition();
  });
  return clock.nowMs() - begunMs;
}

/** Lets several looks happen. */
async function looks(): Promise<void> {
  for (let i = 0; i < 20; i++) await clock.advance(100);
}

const messages = () => log.map(({ msg }) => msg);
/** Without the warning about slow looks: the clock of the test is faster than the file system. */
const switches = () => log.filter(({ msg }) => /^passthrough is (on|off)/.test(msg));

describe('PassthroughSwitch by file', () => {
  it('is off without the file, and on and off as the file appears and disappears', async () => {
    const passthrough = await open();
    const seen: PassthroughState[] = [];
    passthrough.onChange((state) => seen.push(state));
    expect(passthrough.state.on).toBe(false);
    mkdirSync(join(dir, 'state'));
    writeFileSync(file, 'discovery is wrong\n');
    await within(() => passthrough.state.reason !== '');
    expect(passthrough.state).toMatchObject({ on: true, reason: 'discovery is wrong' });
    rmSync(file);
    await within(() => !passthrough.state.on);
    expect(seen.at(0)).toMatchObject({ on: true });
    expect(seen.at(-1)).toMatchObject({ on: false, reason: '' });
    expect(switches()).toMatchObject([
      {
        level: 'warn',
        msg: expect.stringContaining('passthrough is on: protection is switched off'),
        by: `file ${file}`,
      },
      { level: 'warn', msg: expect.stringContaining('passthrough is off') },
    ]);
  });

  it('is on from its start if the file is there, since the time of the file', async () => {
    mkdirSync(join(dir, 'state'));
    writeFileSync(file, '');
    const sinceMs = clock.nowMs() - 3_600_000;
    utimesSync(file, sinceMs / 1_000, sinceMs / 1_000);
    const { state } = await open();
    expect(state.on).toBe(true);
    expect(state.sinceMs).toBeCloseTo(sinceMs, -1);
    const futureMs = clock.nowMs() + 3_600_000;
    utimesSync(file, futureMs / 1_000, futureMs / 1_000);
    expect((await open()).state.sinceMs).toBe(clock.nowMs());
  });

  it('reads no more than the beginning of the file, as one line', async () => {
    mkdirSync(join(dir, 'state'));
    writeFileSync(file, `two\nlines\u0000\u001b[31m${'x'.repeat(5_000_000)}`);
    const { reason } = (await open()).state;
    expect(reason).toMatch(/^two lines \[31mx+$/);
    expect(reason.length).toBe(256);
  });

  it.each([
    ['a folder', () => mkdirSync(file, { recursive: true })],
    ['a pipe that nobody writes to', () => execFileSync('mkfifo', [file])],
    ['an empty file', () => writeFileSync(file, '')],
  ])('is on for %s, which exists', async (_, make) => {
    mkdirSync(join(dir, 'state'), { recursive: true });
    make();
    expect((await open()).state).toMatchObject({ on: true, reason: '' });
  });

  it('takes a changed reason, but logs no second switch', async () => {
    const passthrough = await open();
    mkdirSync(join(dir, 'state'));
    writeFileSync(file, 'first');
    await within(() => passthrough.state.reason === 'first');
    const { sinceMs } = passthrough.state;
    writeFileSync(file, 'second one');
    await within(() => passthrough.state.reason === 'second one');
    expect(passthrough.state).toMatchObject({ on: true, sinceMs });
    expect(switches()).toHaveLength(1);
  });

  it('keeps its state and logs one warning while the file cannot be looked at', async () => {
    // A path component that is too long is refused as EACCES would be, which root never gets.
    const passthrough = await open(join(dir, 'x'.repeat(300), 'passthrough'));
    await looks();
    expect(passthrough.state.on).toBe(false);
    const refused = 'the passthrough file cannot be looked at; passthrough stays as it is';
    expect(messages().filter((each) => each === refused)).toHaveLength(1);
  });

  it('logs a warning each minute while it is on, with reason and time, and none afterwards', async () => {
    const passthrough = await open(null);
    await passthrough.set({ on: true, reason: 'because', by: 'jane' });
    const since = new Date(passthrough.state.sinceMs).toISOString();
    log.length = 0;
    await clock.advance(59_999);
    expect(log).toEqual([]);
    await clock.advance(1);
    await clock.advance(120_000);
    expect(log).toHaveLength(3);
    expect(log[2]).toMatchObject({ level: 'warn', since, reason: 'because' });
    expect(log[2]!.msg).toContain('passthrough is still on');
    await passthrough.set({ on: false, reason: '', by: 'jane' });
    log.length = 0;
    await clock.advance(600_000);
    expect(log).toEqual([]);
  });
});

describe('PassthroughSwitch by order', () => {
  it('switches at once and keeps the state in the file', async () => {
    const passthrough = await open();
    const setting = passthrough.set({ on: true, reason: 'because', by: 'jane' });
    expect(passthrough.state.on).toBe(true);
    expect(await setting).toEqual({ state: passthrough.state, notKept: undefined });
    expect(readFileSync(file, 'utf8')).toBe('because\n');
    expect(log[0]).toMatchObject({ level: 'warn', by: 'jane', reason: 'because' });
    expect((await open()).state).toMatchObject({ on: true, reason: 'because' });
    expect(await passthrough.set({ on: false, reason: '', by: 'jane' })).toMatchObject({ notKept: undefined });
    expect(passthrough.state.on).toBe(false);
    expect(existsSync(file)).toBe(false);
  });

  it('is off without a complaint where there has never been a file', async () => {
    const passthrough = await open();
    expect(await passthrough.set({ on: false, reason: '', by: 'jane' })).toMatchObject({ notKept: undefined });
    expect(switches()).toEqual([]);
  });

  it('stays as ordered while looks go on, and follows a later removal of its file', async () => {
    const passthrough = await open();
    await passthrough.set({ on: true, reason: 'because', by: 'jane' });
    await looks();
    expect(passthrough.state.on).toBe(true);
    rmSync(file);
    await within(() => !passthrough.state.on);
    await passthrough.set({ on: true, reason: '', by: 'jane' });
    await passthrough.set({ on: false, reason: '', by: 'jane' });
    await looks();
    expect(passthrough.state.on).toBe(false);
  });

  it('reports that the state is not kept, and stays as ordered, if the file cannot be written', async () => {
    writeFileSync(join(dir, 'state'), 'not a folder');
    const passthrough = await open();
    const switched = await passthrough.set({ on: true, reason: '', by: 'jane' });
    expect(switched.notKept).toMatch(/passthrough cannot be written \((ENOTDIR|EEXIST)\)$/);
    await looks();
    expect(passthrough.state.on).toBe(true);
    expect(messages()).toContain('passthrough does not survive a restart');
  });

  it('stays as ordered where the file could not be looked at before the order, and is not there afterwards', async () => {
    const loop = join(dir, 'state');
    symlinkSync(loop, loop);
    const passthrough = await open();
    expect((await passthrough.set({ on: true, reason: '', by: 'jane' })).notKept).toContain('cannot be written');
    await looks();
    expect(messages()).toContain('the passthrough file cannot be looked at; passthrough stays as it is');
    rmSync(loop);
    await looks();
    expect(passthrough.state.on).toBe(true);
    mkdirSync(loop);
    writeFileSync(file, 'by hand');
    await within(() => passthrough.state.reason === 'by hand');
    rmSync(file);
    await within(() => !passthrough.state.on);
  });

  it('reports that the state is not kept if there is no file', async () => {
    const switched = await (await open(null)).set({ on: true, reason: '', by: 'jane' });
    expect(switched.notKept).toContain('--passthrough-file');
  });

  it('reports that a removal failed, and stays off', async () => {
    mkdirSync(file, { recursive: true });
    const passthrough = await open();
    const switched = await passthrough.set({ on: false, reason: '', by: 'jane' });
    expect(switched.notKept).toMatch(/cannot be written \((EISDIR|EPERM)\)/);
    await looks();
    expect(passthrough.state.on).toBe(false);
  });

  it('ends in the last of several orders at once', async () => {
    const passthrough = await open();
    const orders = [true, false, true, false, true].map((on) => passthrough.set({ on, reason: '', by: 'jane' }));
    await Promise.all(orders);
    await looks();
    expect(passthrough.state.on).toBe(true);
    expect(existsSync(file)).toBe(true);
  });
});

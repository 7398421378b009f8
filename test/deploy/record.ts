/**
 * `npm run record:deploy [-- name …]`: runs Straddles before API servers of the integration tests, does to them what the alerts are for, and
 * writes what /metrics said meanwhile into recorded/. Once the metrics of an alert change, so must the recordings.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promqlNames } from './promql.js';
import { Recorder, recordingFile } from './recording.js';
import { alertRules } from './rules-file.js';
import { SITUATIONS, type Situation } from './situations.js';
import { Stage } from './stage.js';

/** At least; a page that takes long is waited for. */
const EVERY_MS = 1_500;
const PAGES = 40;
const LOAD_EVERY_MS = 700;
const AT_ONCE = 2;

const names = new Set(alertRules().flatMap(({ expr }) => promqlNames(expr).metrics.map(({ name }) => name)));

async function record(name: string, { about, prepare, during, only }: Situation): Promise<void> {
  const stage = new Stage();
  try {
    await prepare(stage);
    const recorder = new Recorder(only ? new Set(only) : names, EVERY_MS);
    for (let page = 0; page < PAGES; page++) {
      const nextMs = performance.now() + EVERY_MS;
      recorder.add(await stage.scrape());
      await during?.[page]?.(stage);
      while (performance.now() < nextMs) {
        await stage.load();
        await delay(Math.max(0, Math.min(LOAD_EVERY_MS, nextMs - performance.now())));
      }
    }
    writeFileSync(recordingFile(name), `${JSON.stringify(recorder.recording(about)).replaceAll('],"', '],\n"')}\n`);
    process.stdout.write(`recorded ${name}\n`);
  } finally {
    await stage.close();
  }
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => SITUATIONS[name] === undefined);
if (unknown.length > 0)
  throw new Error(`no situation ${unknown.join(', ')}; there are ${Object.keys(SITUATIONS).join(', ')}`);
const chosen = Object.entries(SITUATIONS).filter(([name]) => wanted.length === 0 || wanted.includes(name));
process.stdout.write(
  `recording ${chosen.map(([name]) => name).join(', ')}, ${(PAGES * EVERY_MS) / 1_000} seconds each\n`,
);
if (chosen.length === 1) {
  await record(...chosen[0]!);
  process.exit();
}
const waiting = chosen.map(([name]) => name);
const failed: string[] = [];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      if (!(await inProcess(name))) failed.push(name);
  }),
);
if (failed.length > 0) throw new Error(`not recorded: ${failed.join(', ')}`);

/** A process for each, so that one situation takes no time from another's event loop. */
function inProcess(name: string): Promise<boolean> {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), name];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  return new Promise((resolve) => child.once('close', (code) => resolve(code === 0)));
}

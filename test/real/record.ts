import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerVersions } from './rig/chosen-servers.js';
import type { Layout } from './rig/plane.js';
import type { Client } from './scenario.js';

/** kube-apiserver's own mixed version proxy: in all servers of a layout, in none, or in some. */
export type Native = 'off' | 'on' | 'on in some';

export interface ClientResult extends Client {
  readonly native: Native;
}

export interface ScenarioResult {
  readonly number: number;
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  readonly reason?: string;
  readonly seconds: number;
  /** How its kube-apiservers were run; empty where it runs none of the control plane's. */
  readonly native: readonly Native[];
  readonly clients: readonly ClientResult[];
}

/** One run of `npm run test:real`, as `--record` writes it. */
export interface RunRecord {
  /** `2026-11-18T20:30:00.000Z`, when its last scenario ended. */
  readonly date: string;
  readonly straddle: string;
  readonly node: string;
  readonly servers: ServerVersions;
  readonly scenarios: readonly ScenarioResult[];
}

export function nativeOf({ kube }: Layout): Native {
  const settings = Object.values(kube).filter((each) => each !== undefined);
  const on = settings.filter(({ native }) => native === true).length;
  if (on === 0) return 'off';
  return on === settings.length ? 'on' : 'on in some';
}

export function recordOf(servers: ServerVersions, scenarios: readonly ScenarioResult[], now = new Date()): RunRecord {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return {
    date: now.toISOString(),
    straddle: version,
    node: process.version.slice(1),
    servers,
    scenarios,
  };
}

/** One line a scenario, so that a new run is a readable change of the file. */
export function writeRecord(file: string, { scenarios, ...head }: RunRecord): void {
  const lines = scenarios.map((each) => JSON.stringify(each)).join(',\n');
  writeFileSync(file, `${JSON.stringify(head).slice(0, -1)},"scenarios":[\n${lines}\n]}\n`);
}

/** Throws for a file that is none, with its name. */
export function readRecord(file: string): RunRecord {
  let record: Partial<RunRecord>;
  try {
    record = JSON.parse(readFileSync(file, 'utf8')) as Partial<RunRecord>;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (record.date === undefined || record.servers === undefined || !Array.isArray(record.scenarios)) {
    throw new Error(`${file} is no record of a run: give a file that \`npm run test:real -- --record=<file>\` wrote.`);
  }
  return record as RunRecord;
}

/** `npm run bench`: measures Straddle beside the real systems, started from the rig's cache. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBinaries, planeBinaries } from '../test/real/rig/binaries.js';
import { chooseServers } from '../test/real/rig/chosen-servers.js';
import { ensureBuilt } from '../test/real/rig/ensure-built.js';
import { requireNamespaces, stopEverything } from '../test/real/rig/process.js';
import { runsFromBuild } from '../test/real/rig/program.js';
import type { Bar, BenchCase, Row } from './bench-case.js';
import { BENCH_SERVERS } from './bench-servers.js';
import { warnIfBusy } from './busy-machine.js';
import { CASES } from './cases/index.js';
import { describeGenerators, useHandwrittenGenerator } from './load/generator.js';
import { printTable, writeResults } from './report.js';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

const NAME_WIDTH = Math.max(...CASES.map(({ name }) => name.length));

const USAGE = `Usage: npm run bench [-- [options] <case> …]

Runs the cases (all, or those named), prints one table and writes bench/results/latest.json and latest.svg. Ends with 1
where a promise is not kept or could not be measured. Needs Linux, root, and Debian's nginx-light and haproxy;
nghttp2-client (h2load) and wrk are used where they are installed.

${CASES.map(({ name, text }) => `  ${name.padEnd(NAME_WIDTH)}  ${text}`).join('\n')}

Options:
  --generator=own     load from the bundled generator, also where h2load and wrk are installed
  --results=<folder>  write latest.json and latest.svg there, for a trial that shall not replace the last run

Examples:
  npm run bench
  npm run bench -- discovery-2000-crds
  npm run bench -- --generator=own --results=/tmp/own
`;

interface Asked {
  readonly cases: readonly BenchCase[];
  readonly results: string;
}

/** What is asked for; an exit code where that is nothing to run. */
function read(args: readonly string[]): Asked | number {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { generator: { type: 'string' }, results: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const unknown = positionals.filter((name) => !CASES.some((each) => each.name === name));
  if (values.generator !== undefined && values.generator !== 'own') unknown.push(`--generator=${values.generator}`);
  if (unknown.length > 0) {
    process.stderr.write(`there is no ${unknown.join(', ')}\n\n${USAGE}`);
    return 2;
  }
  if (values.generator === 'own') useHandwrittenGenerator();
  const cases = CASES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { cases, results: values.results ?? RESULTS };
}

async function main(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (typeof asked === 'number') return asked;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const line of describeGenerators()) say(line);
  requireNamespaces();
  chooseServers(BENCH_SERVERS);
  await ensureBinaries(say, planeBinaries(BENCH_SERVERS));
  if (runsFromBuild()) ensureBuilt(say);
  await warnIfBusy(say);
  const rows: Row[] = [];
  const bars: Bar[] = [];
  for (const each of asked.cases) {
    const result = await runCase(each, say);
    rows.push(...result.rows);
    bars.push(...result.bars);
  }
  say(`\n${printTable({ rows, bars })}`);
  writeResults(asked.results, { rows, bars });
  return bars.every(({ holds }) => holds) ? 0 : 1;
}

async function runCase(each: BenchCase, say: (line: string) => void) {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-bench-'));
  say(`${each.name}: ${each.text}`);
  try {
    const result = await each.run({ dir, say: (line) => say(`  ${line}`) });
    await stopEverything();
    rmSync(dir, { recursive: true, force: true });
    return result;
  } catch (error) {
    throw new Error(`${each.name}: ${(error as Error).message} (logs and data: ${dir})`, { cause: error });
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopEverything().then(() => process.exit(130)));
}
let code: number;
try {
  code = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  code = 1;
}
await stopEverything();
process.exit(code);

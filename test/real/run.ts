/** `npm run test:real`: the scenarios against real kube-apiservers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nativeOf, recordOf, type ScenarioResult, writeRecord } from './record.js';
import { ensureBinaries, planeBinaries } from './rig/binaries.js';
import {
  chooseServers,
  DEFAULT_SERVERS,
  parseServers,
  ServersError,
  type ServerVersions,
} from './rig/chosen-servers.js';
import { ControlPlane } from './rig/control-plane.js';
import { ensureBuilt } from './rig/ensure-built.js';
import { within } from './rig/eventually.js';
import { makeNamespace, namespaceName } from './rig/namespace.js';
import { requireNamespaces, stopEverything } from './rig/process.js';
import { runsFromBuild } from './rig/program.js';
import { type Scenario, type ScenarioContext, Skipped } from './scenario.js';
import { SCENARIOS } from './scenarios/index.js';

const USAGE = `Usage: npm run test:real -- [--servers=<a>,<b>,<c>] [--record=<file>] [--keep] [--verbose] [<number> …]

Runs the scenarios (all, or those with these numbers) against real kube-apiservers. Needs Linux and root.

  --servers=<a>,<b>,<c>  versions of servers A, B and C, each a minor version or a pinned release; A is the older one
                         (default: ${DEFAULT_SERVERS})
  --record=<file>        write what was run, and what came of it, as JSON: \`npm run compatibility\` reads it
  --keep                 keep the folder with logs and data; it is kept anyway when something fails
  --verbose              say what is started, and show where a failure came from

With STRADDLE_REAL_SOURCES=1 the servers run from src/ as it stands; else what is in dist/ is built first if need be.

${SCENARIOS.map(({ number, name }) => `  ${String(number).padStart(2)}  ${name}`).join('\n')}

Examples:
  npm run test:real
  npm run test:real -- 1 5 7
  npm run test:real -- --servers=1.33,1.37,1.37 --record=/tmp/33-37.json
`;

const SCENARIO_TIMEOUT_MS = 150_000;

const WORDS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const;

class UsageError extends Error {}

interface RunOptions {
  readonly servers: ServerVersions;
  readonly record: string | undefined;
  readonly keep: boolean;
  readonly verbose: boolean;
  readonly scenarios: readonly Scenario[];
}

function options(args: string[]): RunOptions | 'help' {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        servers: { type: 'string' },
        record: { type: 'string' },
        keep: { type: 'boolean' },
        verbose: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) return 'help';
    const unknown = positionals.filter((text) => !SCENARIOS.some(({ number }) => String(number) === text));
    if (unknown.length > 0) throw new Error(`no scenario ${unknown.join(', ')}`);
    return {
      servers: parseServers(values.servers ?? DEFAULT_SERVERS),
      record: values.record,
      keep: values.keep === true,
      verbose: values.verbose === true,
      scenarios: SCENARIOS.filter(({ number }) => positionals.length === 0 || positionals.includes(String(number))),
    };
  } catch (error) {
    if (error instanceof ServersError) throw error;
    throw new UsageError((error as Error).message);
  }
}

async function runScenario(scenario: Scenario, plane: ControlPlane, verbose: boolean): Promise<ScenarioResult> {
  const { number, name, timeoutMs = SCENARIO_TIMEOUT_MS } = scenario;
  const cleanups: (() => unknown)[] = [];
  const clients: ScenarioResult['clients'][number][] = [];
  const context: ScenarioContext = {
    plane,
    namespace: () => createNamespace(plane, number),
    defer: (cleanup) => cleanups.unshift(cleanup),
    worked: (client) => {
      const layout = plane.arranged.at(-1);
      if (layout === undefined) throw new Error('a client cannot have worked before servers were arranged');
      clients.push({ ...client, native: nativeOf(layout) });
    },
  };
  const startedMs = Date.now();
  const failure = await outcomeOf(within(`scenario ${number}`, timeoutMs, scenario.run(context)), cleanups);
  const seconds = Number(((Date.now() - startedMs) / 1000).toFixed(1));
  const native = [...new Set(plane.arranged.splice(0).map(nativeOf))];
  const result = failure === undefined ? 'passed' : failure instanceof Skipped ? 'skipped' : 'failed';
  const reason = result === 'skipped' ? { reason: failure!.message } : {};
  process.stdout.write(`${WORDS[result]} ${String(number).padStart(2)}  ${name}  ${seconds.toFixed(1)}s\n`);
  if (failure) {
    const isLong = verbose && result === 'failed';
    process.stdout.write(`${indented((isLong ? failure.stack : undefined) ?? failure.message)}\n`);
  }
  return { number, name, result, ...reason, seconds, native, clients };
}

/** What the scenario threw, or else the first of its cleanups that failed. */
async function outcomeOf(run: Promise<void>, cleanups: readonly (() => unknown)[]): Promise<Error | undefined> {
  let failure: Error | undefined;
  try {
    await run;
  } catch (error) {
    failure = error as Error;
  }
  for (const cleanup of cleanups) {
    try {
      await cleanup();
    } catch (error) {
      failure ??= error as Error;
    }
  }
  return failure;
}

async function createNamespace(plane: ControlPlane, number: number): Promise<string> {
  const name = namespaceName(number);
  const server = plane.all.find(({ kube }) => kube.running);
  if (server === undefined) throw new Error('no kube-apiserver runs');
  return makeNamespace(server.kube.admin, name);
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `        ${line}`)
    .join('\n');
}

async function main(args: string[]): Promise<number> {
  const chosen = options(args);
  if (chosen === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const { servers, scenarios, record, verbose } = chosen;
  chooseServers(servers);
  requireNamespaces();
  await ensureBinaries(say, [...planeBinaries(servers), ...scenarios.flatMap((each) => each.programs?.() ?? [])]);
  if (runsFromBuild()) ensureBuilt(say);
  say(`A is ${servers.a.slice(1)}, B ${servers.b.slice(1)}, C ${servers.c.slice(1)}`);
  const dir = mkdtempSync(join(tmpdir(), 'straddle-real-'));
  const plane = await ControlPlane.create(dir, verbose ? say : undefined);
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    results.push(await runScenario(scenario, plane, verbose));
    // Written anew each time: a run that is interrupted leaves what was done until then.
    if (record !== undefined) writeRecord(record, recordOf(servers, results));
  }
  await plane.stop();
  const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map(
    (word) => results.filter(({ result }) => result === word).length,
  );
  say(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  if (failed || chosen.keep) say(`logs and data: ${dir}`);
  else rmSync(dir, { recursive: true, force: true });
  return failed ? 1 : 0;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopEverything().then(() => process.exit(130)));
}
let code: number;
try {
  code = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `${(error as Error).message}\n`);
  code = error instanceof UsageError || error instanceof ServersError ? 2 : 1;
}
await stopEverything();
process.exit(code);

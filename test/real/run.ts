/** `npm run test:real`: the scenarios against real kube-apiservers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBinaries } from './rig/binaries.js';
import { ControlPlane } from './rig/control-plane.js';
import { ensureBuilt } from './rig/ensure-built.js';
import { within } from './rig/eventually.js';
import { makeNamespace, namespaceName } from './rig/namespace.js';
import { requireNamespaces, stopEverything } from './rig/process.js';
import { runsFromBuild } from './rig/program.js';
import type { Scenario, ScenarioContext } from './scenario.js';
import { SCENARIOS } from './scenarios/index.js';

const USAGE = `Usage: npm run test:real -- [--keep] [--verbose] [<number> …]

Runs the scenarios (all, or those with these numbers) against real kube-apiservers. Needs Linux and root.

  --keep      keep the folder with logs and data; it is kept anyway when something fails
  --verbose   say what is started, and show where a failure came from

With STRADDLE_REAL_SOURCES=1 the servers run from src/ as it stands; else what is in dist/ is built first if need be.

${SCENARIOS.map(({ number, name }) => `  ${String(number).padStart(2)}  ${name}`).join('\n')}

Examples:
  npm run test:real
  npm run test:real -- 1 5 7
`;

const SCENARIO_TIMEOUT_MS = 150_000;

class UsageError extends Error {}

interface RunOptions {
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
        keep: { type: 'boolean' },
        verbose: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) return 'help';
    const unknown = positionals.filter((text) => !SCENARIOS.some(({ number }) => String(number) === text));
    if (unknown.length > 0) throw new Error(`no scenario ${unknown.join(', ')}`);
    return {
      keep: values.keep === true,
      verbose: values.verbose === true,
      scenarios: SCENARIOS.filter(({ number }) => positionals.length === 0 || positionals.includes(String(number))),
    };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function runScenario(scenario: Scenario, plane: ControlPlane, verbose: boolean): Promise<boolean> {
  const { number, name, timeoutMs = SCENARIO_TIMEOUT_MS } = scenario;
  const cleanups: (() => unknown)[] = [];
  const context: ScenarioContext = {
    plane,
    namespace: () => createNamespace(plane, number),
    defer: (cleanup) => cleanups.unshift(cleanup),
  };
  const startedMs = Date.now();
  let failure: Error | undefined;
  try {
    await within(`scenario ${number}`, timeoutMs, scenario.run(context));
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
  const took = `${((Date.now() - startedMs) / 1000).toFixed(1)}s`;
  process.stdout.write(`${failure ? 'FAIL' : 'ok  '} ${String(number).padStart(2)}  ${name}  ${took}\n`);
  if (failure) process.stdout.write(`${indented((verbose ? failure.stack : undefined) ?? failure.message)}\n`);
  return failure === undefined;
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
  requireNamespaces();
  await ensureBinaries(say);
  if (runsFromBuild()) ensureBuilt(say);
  const dir = mkdtempSync(join(tmpdir(), 'straddle-real-'));
  const plane = await ControlPlane.create(dir, chosen.verbose ? say : undefined);
  let passed = 0;
  for (const scenario of chosen.scenarios) {
    if (await runScenario(scenario, plane, chosen.verbose)) passed += 1;
  }
  await plane.stop();
  const failed = chosen.scenarios.length - passed;
  say(`${passed} passed, ${failed} failed`);
  if (failed > 0 || chosen.keep) say(`logs and data: ${dir}`);
  else rmSync(dir, { recursive: true, force: true });
  return failed === 0 ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopEverything().then(() => process.exit(130)));
}
let code: number;
try {
  code = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `${(error as Error).message}\n`);
  code = error instanceof UsageError ? 2 : 1;
}
await stopEverything();
process.exit(code);

import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { dump } from 'js-yaml';
import { notShipped, shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { systemClock } from '../base/clock.js';
import { fileProblem } from '../base/file-problem.js';
import { createLogger } from '../base/logger.js';
import { makeFolder } from '../base/make-folder.js';
import { printable } from '../base/printable.js';
import type { Colors } from '../base/terminal-colors.js';
import { ConfigError } from '../compose/config/config-error.js';
import type { RehearsalPlaces } from '../tools/plane/start-rehearsal-plane.js';
import { checkUses, choose, notesOf, usesOf } from '../tools/rehearse/choice.js';
import { REHEARSAL_DEFAULTS, type RehearsalOptions } from '../tools/rehearse/rehearsal-options.js';
import type { HalfResult, RehearsalResult } from '../tools/rehearse/rehearsal-result.js';
import { differenceLines } from '../tools/rehearse/report/difference-lines.js';
import { htmlReport } from '../tools/rehearse/report/html-report.js';
import { terminalReport } from '../tools/rehearse/report/terminal-report.js';
import { isHarmful, verdictOf } from '../tools/rehearse/report/verdict.js';
import { clockText } from '../tools/rehearse/report/words.js';
import { readManifests } from './manifests.js';
import { addRehearseFlags, halvesOf, type RehearseFlags } from './rehearse-flags.js';
import { stderrColors, stdoutColors } from './stream-look.js';
import { type Surroundings, stopSignal } from './surroundings.js';
import { adviceToDiffer, versionDifferences } from './version-differences.js';

/** Runs a rehearsal; `places` has the options of its control planes. */
export type Rehearse = (options: Omit<RehearsalOptions, 'start'>, places: RehearsalPlaces) => Promise<RehearsalResult>;

export interface RehearseCommandOptions {
  readonly rehearse: Rehearse;
  readonly exitWith: (code: number) => void;
}

const HARM = 1;
/** A code of its own: scripts must be able to tell harm from a rehearsal that failed. */
const COULD_NOT_REHEARSE = 2;

const [OLDEST] = shippedVersions();
const [BEFORE_NEWEST, NEWEST] = shippedVersions().slice(-2);

const EXAMPLES = `
A whole rolling upgrade and the way back, on this machine, under load: clients list, get, create, watch and read discovery at
a load balancer while namespaces and owners are deleted; once with the mixed version proxy off and once with it on. What is
exercised is what only the newer version serves: it is listed at the start and in the report. The report is printed, and
written as one HTML file with plots.
Exit code: 0 no harm with the proxy on, 1 harm with it on (or --exec failed there), 2 it could not be found out.

Examples:
  $ straddle rehearse
  $ straddle rehearse --from=${OLDEST} --to=${NEWEST}
  With your own definitions and objects, and your own client, which finds the load balancer by KUBECONFIG:
  $ straddle rehearse --manifests=./deploy --exec='npm test'
  Longer and heavier, for a script:
  $ straddle rehearse --servers=5 --hold=1m --rate=300 -o json > rehearsal.json
  With the real API servers of a test cluster:
  $ straddle rehearse --from=${BEFORE_NEWEST} --to=${NEWEST} --upstream=https://10.0.0.1:6443,https://10.0.0.2:6443 \\
      --pki-dir=/etc/kubernetes/pki --roll-command='./set-version.sh "$STRADDLE_SERVER" "$STRADDLE_VERSION"'
`;

export function addRehearseCommand(
  program: Command,
  surroundings: Surroundings,
  { rehearse, exitWith }: RehearseCommandOptions,
): void {
  addRehearseFlags(program.command('rehearse').description('Rehearse an upgrade under load, with the proxy off and on'))
    .addHelpText('after', EXAMPLES)
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new CommanderError(COULD_NOT_REHEARSE, error.code, error.message);
    })
    .action(async (flags: RehearseFlags) => {
      const colors = stderrColors(surroundings);
      try {
        exitWith(await rehearsal(flags, surroundings, { rehearse, colors }));
      } catch (error) {
        for (const problem of problemsOf(error)) surroundings.stderr(`${colors.red('straddle:')} ${problem}\n`);
        exitWith(COULD_NOT_REHEARSE);
      }
    });
}

interface Running {
  readonly rehearse: Rehearse;
  readonly colors: Colors;
}

async function rehearsal(flags: RehearseFlags, surroundings: Surroundings, running: Running): Promise<number> {
  const { colors } = running;
  const versions = versionsOf(flags);
  checkFlags({ ...flags, ...versions });
  const options = rehearsalOptions(flags, versions);
  if (flags.upstream.length === 0) await announce(options, flags, surroundings);
  // The first signal ends the rehearsal in order, the second one the process.
  const stop = stopSignal(surroundings, () => surroundings.exitNow(COULD_NOT_REHEARSE));
  const { workDir, forget } = workFolder(flags.dataDir);
  const outcome = await eachHalf(flags, surroundings, { ...running, options, workDir, signal: stop.signal }).finally(
    () => {
      stop.forget();
      forget();
    },
  );
  const { result, failure } = outcome;
  if (failure !== undefined) {
    const why = stop.signal.aborted ? 'stopped' : problemsOf(failure).join('\n');
    surroundings.stderr(`${stop.signal.aborted ? colors.yellow('straddle:') : colors.red('straddle:')} ${why}\n`);
  }
  if (result !== undefined) publish(result, flags, surroundings);
  if (failure !== undefined || result === undefined) return COULD_NOT_REHEARSE;
  return result.halves.some((half) => half.proxy && isHarmful(half)) ? HARM : 0;
}

interface Versions {
  readonly from: string;
  readonly to: string;
}

/** Returns the versions that were given, and by default the newest one and the one before. */
function versionsOf({ from, to, upstream }: RehearseFlags): Versions {
  if (upstream.length > 0 && (from === undefined || to === undefined))
    throw new ConfigError(['--upstream: give --from and --to, the versions that --roll-command is asked for.']);
  const shipped = shippedVersions();
  // A version that does not come with Straddle, or the oldest, has none before it: it is refused later.
  const newer = to ?? NEWEST!;
  return { from: from ?? shipped[shipped.indexOf(newer) - 1] ?? newer, to: newer };
}

/** Throws ConfigError with all problems that can be found before anything is started. */
function checkFlags({ from, to, servers, upstream, rollCommand, report }: RehearseFlags & Versions): void {
  const problems: string[] = [];
  const [older, newer] = [from, to].map((version) => version.split('.').map(Number) as [number, number]);
  const order = newer![0] - older![0] || newer![1] - older![1];
  if (order === 0) problems.push(`--from and --to are both ${to}: nothing would be mixed; give two versions.`);
  if (order < 0)
    problems.push(`--to=${to} is older than --from=${from}: give the older one first; the way back is rehearsed too.`);
  if (upstream.length === 0) {
    for (const [flag, version] of Object.entries({ '--from': from, '--to': to })) {
      const problem = notShipped(version);
      if (problem !== undefined) problems.push(`${flag}: ${problem}.`);
    }
    if (rollCommand !== undefined) problems.push('--roll-command is for real API servers: give --upstream too.');
  } else {
    if (upstream.length < 2) problems.push('--upstream: with one API server nothing is ever mixed; give two or more.');
    if (servers !== undefined && servers !== upstream.length) {
      problems.push(`--servers=${servers}, but --upstream names ${upstream.length}; leave --servers out.`);
    }
    if (rollCommand === undefined)
      problems.push('--upstream needs --roll-command: how is a server brought to another version?');
  }
  if (report !== false) problems.push(...folderProblems(resolve(report)));
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Checks the folder of the report before the rehearsal, not after it. */
function folderProblems(report: string): string[] {
  try {
    accessSync(dirname(report), constants.W_OK);
    return [];
  } catch (error) {
    return [`--report: ${dirname(report)} cannot be written to (${fileProblem(error)}).`];
  }
}

type HalfOptions = Omit<RehearsalOptions, 'start' | 'halves' | 'halvesToFollow' | 'progress' | 'signal' | 'clock'>;

/** Writes what differs between the versions and is exercised. Throws before anything is started if that is nothing. */
async function announce(
  { from, to, manifests, skewed }: HalfOptions,
  { runtimeConfig }: RehearseFlags,
  { stderr }: Surroundings,
): Promise<void> {
  const differences = await versionDifferences({ from, to, runtimeConfig });
  const choice = choose({ from, to, differences, manifests, wanted: skewed });
  const uses = usesOf(choice);
  checkUses(choice, uses, await adviceToDiffer({ from, to, runtimeConfig }));
  stderr(`${differenceLines({ differences: uses, notes: notesOf(choice, uses) }).join('\n')}\n`);
}

function rehearsalOptions(flags: RehearseFlags, { from, to }: Versions): HalfOptions {
  const { servers, manifests, exec, hold, rate, clients, controllers, resource, upstream } = flags;
  const isReal = upstream.length > 0;
  return {
    from,
    to,
    servers: isReal ? upstream.length : (servers ?? REHEARSAL_DEFAULTS.servers),
    made: isReal ? 'kube-apiserver behind straddle proxy' : 'straddle apiserver',
    manifests: manifests === undefined ? [] : readManifests(manifests),
    ...(exec === undefined ? {} : { exec }),
    secondsPerStep: hold / 1_000,
    load: { requestsPerSecond: rate, clients },
    controllers,
    ...(resource === undefined ? {} : { skewed: resource }),
  };
}

function workFolder(dataDir: string | undefined): { workDir: string; forget: () => void } {
  try {
    if (dataDir === undefined) {
      const workDir = mkdtempSync(join(tmpdir(), 'straddle-rehearse-'));
      return { workDir, forget: () => rmSync(workDir, { recursive: true, force: true }) };
    }
    // A folder that the user named stays; each half removes the one that it made below.
    makeFolder(resolve(dataDir));
    return { workDir: resolve(dataDir), forget: () => {} };
  } catch (error) {
    const { path } = error as NodeJS.ErrnoException;
    throw new ConfigError([`--data-dir: ${path ?? dataDir} cannot be made (${fileProblem(error)}).`]);
  }
}

interface HalfRun extends Running {
  readonly options: HalfOptions;
  readonly workDir: string;
  readonly signal: AbortSignal;
}

interface Outcome {
  /** Undefined if no half was completed. */
  readonly result: RehearsalResult | undefined;
  readonly failure: unknown;
}

/** Runs each half separately, so that the result of the first is kept if the second fails. */
async function eachHalf(flags: RehearseFlags, surroundings: Surroundings, run: HalfRun): Promise<Outcome> {
  const beganMs = surroundings.nowMs();
  const halves: HalfResult[] = [];
  let first: RehearsalResult | undefined;
  const outcome = (failure: unknown): Outcome => ({ result: first && { ...first, halves }, failure });
  const all = halvesOf(flags);
  for (const [index, half] of all.entries()) {
    const say = (sentence: string) => {
      const time = clockText(surroundings.nowMs() - beganMs).padStart(5);
      const words = printable(sentence.replace(/^proxy (on|off): /, ''));
      surroundings.stderr(`${run.colors.dim(`${time}  proxy ${half.padEnd(3)}  ${words}`)}\n`);
    };
    try {
      run.signal.throwIfAborted();
      const result = await run.rehearse(
        {
          ...run.options,
          halves: [half],
          halvesToFollow: all.length - 1 - index,
          progress: say,
          signal: run.signal,
          clock: systemClock,
        },
        places(flags, surroundings, { ...run, say }),
      );
      first ??= result;
      halves.push(...result.halves);
    } catch (error) {
      return outcome(error);
    }
  }
  return outcome(undefined);
}

function places(
  { runtimeConfig, upstream, pkiDir, rollCommand }: RehearseFlags,
  surroundings: Surroundings,
  { workDir, say }: { readonly workDir: string; readonly say: (sentence: string) => void },
): RehearsalPlaces {
  return {
    workDir,
    etcdServers: [],
    runtimeConfig,
    upstream: upstream.length === 0 ? undefined : { urls: upstream, pkiDir: resolve(pkiDir), rollCommand },
    self: [...process.execArgv, process.argv[1]!],
    machine: surroundings,
    // Errors only: servers are stopped and started all the time.
    logger: createLogger({ level: 'error', format: 'text', write: surroundings.stderr, nowMs: surroundings.nowMs }),
    note: say,
  };
}

function publish(result: RehearsalResult, { output, report }: RehearseFlags, surroundings: Surroundings): void {
  const { stdout, stderr, writeFile } = surroundings;
  const json = JSON.stringify({ verdict: verdictOf(result), ...result }, null, 2);
  if (output === 'json') stdout(`${json}\n`);
  // Through JSON, so that both forms omit the same members: YAML would write undefined ones.
  else if (output === 'yaml') stdout(dump(JSON.parse(json), { lineWidth: 120, noRefs: true }));
  else stdout(`\n${terminalReport(result, stdoutColors(surroundings))}\n`);
  if (report === false) return;
  const path = resolve(report);
  try {
    writeFile(path, htmlReport(result));
  } catch (error) {
    throw new ConfigError([`--report: ${path} cannot be written (${fileProblem(error)}).`]);
  }
  stderr(`The report with plots: ${path}\n`);
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  // The message may contain the last lines of a server or program.
  return [printable(error instanceof Error ? error.message : String(error))];
}

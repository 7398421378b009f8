import type { Command } from 'commander';
import type { BuiltInSurface } from '../apiserver/surfaces/built-in-surface.js';
import { loadSurface, loadSurfaceFile } from '../apiserver/surfaces/load-surface.js';
import { parseRuntimeConfig } from '../apiserver/surfaces/runtime-config.js';
import { notShipped, shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { surfaceDiscovery } from '../apiserver/surfaces/surface-discovery.js';
import { ConfigError } from '../compose/config/config-error.js';
import { type Surface, servedResources } from '../kube/surface.js';
import { inspectDiff } from '../tools/inspect/diff-inspection.js';
import { type VersionChange, versionChange } from '../tools/inspect/diff-report.js';
import { changeText, diffText } from '../tools/inspect/diff-text.js';
import { addInspectFlags, type InspectFlags, inspectOptions, printed } from './inspect-options.js';
import type { Surroundings } from './surroundings.js';
import { minorOf } from './version-argument.js';

const [BEFORE, NEWEST] = shippedVersions().slice(-2);

const EXAMPLES = `
Which server serves what by itself, down to subresource and verb; how much was added and removed between the versions that
are there; what a client of each server would miss, and whether a mixed version proxy makes up for it; objects that are
stored in a version with which a server can do nothing. Without --all, only what not all servers serve alike. Servers of one
version that serve the same share a column; -o wide has the verbs.

--from and --to compare what comes with two Kubernetes versions, without any cluster; a file of \`straddle surface capture\`
may stand for a version. What is off by default (alpha and some beta versions) is left out, unless --all is given.

Examples:
  $ straddle diff
  $ straddle diff -o wide --context=prod
  $ straddle diff -o json | jq '.clients[] | select(.uncovered != [])'
  $ straddle diff --from=${BEFORE} --to=${NEWEST}
  $ straddle diff --from=${BEFORE} --to=./prod.json --all
`;

interface DiffFlags extends InspectFlags {
  readonly all?: boolean;
  readonly from?: string;
  readonly to?: string;
}

export function addDiffCommand(program: Command, surroundings: Surroundings): void {
  addInspectFlags(program.command('diff').description('Show which API is served by which server'))
    .option('--all', 'also what all servers serve alike')
    .option(
      '--from <version>',
      `compare versions instead of servers: the older one, of ${shippedVersions().join(', ')}`,
    )
    .option('--to <version>', 'and the newer one')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: DiffFlags) => surroundings.stdout(await diff(flags, surroundings)));
}

async function diff({ from, to, all = false, ...flags }: DiffFlags, surroundings: Surroundings): Promise<string> {
  if (from === undefined && to === undefined) {
    const report = await inspectDiff(await inspectOptions(flags, surroundings), all);
    return printed(report, flags.output, surroundings, diffText);
  }
  if (from === undefined || to === undefined) throw new ConfigError(['Give both --from and --to, or neither.']);
  const [before, after] = await Promise.all([surfaceFor(from, '--from'), surfaceFor(to, '--to')]);
  const change: VersionChange = versionChange(
    { name: before.version, surface: servedBy(before, all) },
    { name: after.version, surface: servedBy(after, all) },
  );
  return printed(change, flags.output, surroundings, changeText);
}

async function surfaceFor(text: string, flag: string): Promise<BuiltInSurface> {
  if (text.endsWith('.json')) {
    return loadSurfaceFile(text).catch((error: Error) => {
      throw new ConfigError([`${flag}: ${error.message}`]);
    });
  }
  const version = minorOf(text);
  const problem = notShipped(version ?? text);
  if (version !== undefined && problem === undefined) return loadSurface(version);
  throw new ConfigError([
    `${flag}: ${problem}; another version can be captured with \`straddle surface capture\` and its file named here.`,
  ]);
}

/** Returns the surface of a version without --runtime-config, or with everything on. */
function servedBy(version: BuiltInSurface, all: boolean): Surface {
  const groups = surfaceDiscovery(version, parseRuntimeConfig(all ? ['api/all=true'] : []));
  return { resources: servedResources(groups), core: [], groups: [], kubernetesVersion: version.capturedFrom };
}

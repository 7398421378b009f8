import { join, relative, resolve, sep } from 'node:path';
import { dump } from 'js-yaml';
import { breakLines } from '../base/break-lines.js';
import { resourceName } from '../kube/gvr.js';
import type { JsonObject } from '../kube/json.js';
import { apiVersionOf, type ResourceKind } from '../kube/resource-kind.js';
import type { PlaneServer, RunningControlPlane } from '../tools/plane/control-plane.js';
import { PLANE_DATA_DIR } from '../tools/plane/control-plane-options.js';
import { templatesOf } from '../tools/rehearse/templates.js';
import { newResource, versionDifferences } from './version-differences.js';

const COLUMNS = 80;
const INDENT = '  ';

/** A resource that not all servers serve. */
export interface ShownSkew {
  readonly kind: ResourceKind;
  /** The oldest server, which does not. */
  readonly lackedBy: PlaneServer;
  /** The newest server, which does. */
  readonly servedAt: PlaneServer;
  /** Versions of those that do. */
  readonly servedBy: readonly string[];
}

/** Versions of the servers, oldest first. */
export function versionsOf({ servers }: Pick<RunningControlPlane, 'servers'>): string[] {
  const minorOf = (version: string): number => Number(version.split('.')[1]);
  return [...new Set(servers.map(({ version }) => version))].sort((left, right) => minorOf(left) - minorOf(right));
}

/** Returns a difference between the oldest server and the newest; undefined if all serve the same. */
export async function shownSkew(
  plane: Pick<RunningControlPlane, 'servers'>,
  runtimeConfig: readonly string[],
): Promise<ShownSkew | undefined> {
  const [from, ...newer] = versionsOf(plane);
  const to = newer.at(-1);
  if (from === undefined || to === undefined) return undefined;
  const kind = await newResource({ from, to, runtimeConfig });
  if (kind === undefined) return undefined;
  const servedBy: string[] = [];
  for (const each of newer) {
    const differences = await versionDifferences({ from, to: each, runtimeConfig });
    if (differences.some((difference) => difference.kind.key === kind.key && difference.subresource === ''))
      servedBy.push(each);
  }
  const at = (version: string): PlaneServer => plane.servers.find((each) => each.version === version)!;
  return { kind, lackedBy: at(from), servedAt: at(to), servedBy };
}

/** Returns an object of the shown resource, as a file to create it from. It gets a new name each time. */
export function exampleText({ kind }: ShownSkew): string {
  const [template] = templatesOf(kind, []);
  const example: JsonObject = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { generateName: 'example-' },
    ...template,
  };
  return dump(example, { noRefs: true });
}

export interface FirstStepsOptions {
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly folder: string;
  readonly newest: string;
  /** Whether the servers are ours, so that they can be rolled and have a resource to show. */
  readonly isOwn: boolean;
  readonly proxy: boolean;
  readonly shown: ShownSkew | undefined;
  /** The file that `exampleText` was written to. */
  readonly exampleFile: string;
  /** The command that runs this program, in `folder`. */
  readonly self: string;
  readonly hasKubectl: boolean;
  readonly comment: (sentence: string) => string;
}

/** Returns commands to try next, in 80 columns. Each works as it is printed, in another terminal. */
export function firstSteps(options: FirstStepsOptions): string {
  const { folder, kubeconfig, comment } = options;
  const settings = [`cd ${quoted(folder)}`, `export KUBECONFIG=${quotedPath(kubeconfig, folder, '$PWD/')}`];
  const blocks = [{ comments: [], commands: settings }, ...stepsOf(options)];
  return blocks
    .map(({ comments, commands }) =>
      [
        ...comments.flatMap((text) => wrapped(text)).map((line) => `${INDENT}${comment(`# ${line}`)}`),
        ...commands.flatMap((line) => continued(line)),
      ].join('\n'),
    )
    .join('\n\n');
}

interface Step {
  readonly comments: readonly string[];
  readonly commands: readonly string[];
}

function stepsOf(options: FirstStepsOptions): Step[] {
  const { isOwn, shown, self, newest, hasKubectl } = options;
  const looks: Step = {
    comments: ['Who runs and who knows whom; which server serves what; all of it as a page.'],
    commands: [`${self} status`, `${self} diff`, `${self} dashboard`],
  };
  if (!isOwn) {
    const command = `${hasKubectl ? 'kubectl' : self} get nodes --context=front`;
    return [{ comments: ['Through the front door.'], commands: [command] }, looks];
  }
  const roll: Step = {
    comments: ['Upgrade one server after the other; this screen shows it too.'],
    commands: [`${self} roll --to=${newest}${dataDirFlag(options)}`],
  };
  return shown === undefined ? [looks, roll] : [...skewSteps(options, shown), roll, looks];
}

function skewSteps(
  { proxy, self, hasKubectl, exampleFile, folder }: FirstStepsOptions,
  { kind, lackedBy, servedAt, servedBy }: ShownSkew,
): Step[] {
  const client = hasKubectl ? 'kubectl' : self;
  const create = `${client} create --context=${servedAt.name} -f ${quotedPath(exampleFile, folder)}`;
  const read = `${client} get --context=${lackedBy.name} ${resourceName(kind)}`;
  const who = servedBy.length === 1 ? `Only ${servedBy[0]} serves` : `${servedBy.join(' and ')} serve`;
  const made: Step = {
    comments: [`${who} ${kind.resource} in ${kind.version}. Create one at ${servedAt.name}.`],
    commands: [create],
  };
  if (!proxy) {
    const text = `Read it at ${lackedBy.name} (${lackedBy.version}): a wrong 404, because the proxy is off.`;
    return [made, { comments: [text], commands: [read] }];
  }
  return [
    made,
    {
      comments: [`Read it at ${lackedBy.name} (${lackedBy.version}), which does not know it: a peer answers.`],
      commands: [read],
    },
    {
      comments: [`The same with the proxy of ${lackedBy.name} off: a wrong 404. Then on again.`],
      commands: [`${self} passthrough on --server=${lackedBy.name}`, read, `${self} passthrough off`],
    },
  ];
}

/** The flag that `straddle roll` needs to find the control plane; empty where it finds it by itself. */
function dataDirFlag({ dataDir, folder }: FirstStepsOptions): string {
  return dataDir === resolve(folder, PLANE_DATA_DIR) ? '' : ` --data-dir=${quotedPath(dataDir, folder)}`;
}

/** Returns a path for a shell in the folder: relative, after `prefix`, if it is below. */
function quotedPath(path: string, folder: string, prefix = ''): string {
  const below = relative(folder, path);
  return below.startsWith(`..${sep}`) || below.startsWith(sep) ? quoted(path) : `${prefix}${quoted(join(below))}`;
}

function quoted(path: string): string {
  return /^[\w./:@%+,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Breaks a comment at blanks. */
function wrapped(text: string): string[] {
  return breakLines(text.split(' '), COLUMNS - INDENT.length - '# '.length);
}

/** Breaks a command at its words, with a backslash at the end of each line but the last. */
function continued(command: string): string[] {
  const whole = `${INDENT}${command}`;
  if (whole.length <= COLUMNS) return [whole];
  const words = command.match(/'[^']*'|\S+/g) ?? [];
  const lines = breakLines(words, COLUMNS - 2 * INDENT.length - INDENT.length - ' \\'.length);
  return lines.map((line, index) => {
    const indent = index === 0 ? INDENT : INDENT.repeat(3);
    return `${indent}${line}${index < lines.length - 1 ? ' \\' : ''}`;
  });
}

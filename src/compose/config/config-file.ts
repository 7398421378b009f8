import { FAILSAFE_SCHEMA, loadAll } from 'js-yaml';
import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { hasReference, programInPod, readFlagWords } from '../../kube/program-arguments.js';
import { camelCase, type FlagCommand, type FlagKind, REPEATABLE_KINDS } from './flag.js';
import { FLAG_SPELLINGS, type FlagName, flagForKey, flagNamed } from './flags.js';
import { nearest } from './nearest.js';

/** Values of flags from one source, as text; several for flags that may be repeated. */
export interface Layer {
  readonly source: 'command line' | 'file' | 'kube-apiserver';
  /** The place of a wrong value, for messages; empty for the command line. */
  readonly origin: string;
  readonly values: ReadonlyMap<FlagName, readonly string[]>;
}

export interface ConfigFile {
  /** The most important one first. */
  readonly layers: readonly Layer[];
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

type Values = Map<FlagName, readonly string[]>;

interface Reading {
  readonly path: string;
  readonly command: FlagCommand;
  readonly notes: string[];
  readonly problems: string[];
}

/** Where flags for kube-apiserver stand in a file. */
const EXTRA_ARGS = 'apiServer.extraArgs';
const POD_COMMAND = 'the command of kube-apiserver';

/**
 * Reads a YAML file of one or more documents: mappings without `kind` have flags as keys, the static pod of a
 * kube-apiserver has them in its command, a kubeadm `ClusterConfiguration` in its `apiServer.extraArgs`; other kinds
 * are ignored.
 */
export function readConfigFile(path: string, text: string, command: FlagCommand): ConfigFile {
  const notes: string[] = [];
  const problems: string[] = [];
  const reading = { path, command, notes, problems };
  const values: Values = new Map();
  const pod: Values = new Map();
  const kubeadm: Values = new Map();
  const otherPods: string[] = [];
  let used = 0;
  for (const document of documents(text, reading)) {
    if (document['kind'] === undefined) {
      used++;
      readStraddleKeys(document, values, reading);
    } else if (document['kind'] === 'ClusterConfiguration') {
      used++;
      readExtraArgs(document, kubeadm, reading);
    } else if (document['kind'] === 'Pod') {
      if (readPod(document, pod, reading)) used++;
      else otherPods.push(podName(document));
    }
  }
  if (used === 0 && problems.length === 0) noteUnused(otherPods, reading);
  return {
    layers: [
      { source: 'file', origin: path, values },
      { source: 'kube-apiserver', origin: `${POD_COMMAND} in ${path}`, values: pod },
      { source: 'kube-apiserver', origin: `${EXTRA_ARGS} in ${path}`, values: kubeadm },
    ],
    notes,
    problems,
  };
}

function noteUnused(otherPods: readonly string[], { path, notes, problems }: Reading): void {
  if (otherPods.length > 0) {
    problems.push(
      `${path} has the pod ${otherPods.join(', ')}, which runs no kube-apiserver; its static pod is kube-apiserver.yaml.`,
    );
  } else {
    notes.push(
      `${path} holds nothing for Straddle: neither its own keys, nor the static pod of a kube-apiserver, nor a kubeadm` +
        ' ClusterConfiguration.',
    );
  }
}

/** Parses every value as text (failsafe schema): flags have types, and `007` may be a name. */
function documents(text: string, { path, problems }: Reading): readonly JsonObject[] {
  let parsed: readonly unknown[];
  try {
    parsed = loadAll(text, { schema: FAILSAFE_SCHEMA });
  } catch (error) {
    problems.push(`${path} is not valid YAML: ${(error as Error).message.split('\n', 1)[0]}.`);
    return [];
  }
  const mappings = parsed.filter(isObject);
  if (parsed.some((each) => !isObject(each) && each !== null && each !== undefined && each !== '')) {
    problems.push(`${path} must hold \`flag: value\` lines, without the leading dashes.`);
  }
  return mappings;
}

function readStraddleKeys(document: JsonObject, into: Values, { path, command, problems }: Reading): void {
  for (const [key, value] of Object.entries(document)) {
    const flag = flagForKey(key);
    const texts = textsOf(value, flag?.kind === 'gates');
    if (!flag) {
      problems.push(unknownKey(path, key));
    } else if (flag.onlyFor !== undefined && flag.onlyFor !== command) {
      problems.push(`"${key}" in ${path} is only for \`straddle ${flag.onlyFor}\`.`);
    } else if (flag.commandLineOnly) {
      problems.push(`"${key}" in ${path} can only be given on the command line, as --${flag.name}.`);
    } else if (!texts || (texts.length !== 1 && !REPEATABLE_KINDS.has(flag.kind))) {
      problems.push(`"${key}" in ${path} must be ${wanted(flag.kind)}.`);
    } else if (into.has(flag.name)) {
      problems.push(`--${flag.name} is given more than once in ${path}; keep one.`);
    } else {
      into.set(flag.name, texts);
    }
  }
}

function wanted(kind: FlagKind): string {
  if (kind === 'gates') return 'a mapping of gates to true or false, or text like "Gate=true"';
  return REPEATABLE_KINDS.has(kind) ? 'a value or a list of values' : 'one value';
}

function unknownKey(path: string, key: string): string {
  // Compared in the spelling of the key: camelCase is far from every spelling with dashes.
  const dashed = key.includes('-') || !/[A-Z]/.test(key);
  const suggestion = nearest(key, dashed ? FLAG_SPELLINGS : FLAG_SPELLINGS.map(camelCase));
  return `Unknown key "${key}" in ${path}.${suggestion ? ` Did you mean "${suggestion}"?` : ''}`;
}

/**
 * Reads the flags for kube-apiserver: a mapping before v1beta4 of kubeadm, since then a list of name
 * and value. Flags that Straddle does not have are only noted.
 */
function readExtraArgs(document: JsonObject, into: Values, { path, command, notes, problems }: Reading): void {
  const extraArgs = objectMember(document, 'apiServer')['extraArgs'];
  if (extraArgs === undefined || extraArgs === '') return;
  const pairs = argumentPairs(extraArgs);
  if (!pairs) {
    problems.push(
      `apiServer.extraArgs in ${path} must be a mapping of names to values, or a list of entries with name and value.`,
    );
    return;
  }
  takeFlags(pairs, into, EXTRA_ARGS, { path, command, notes, problems });
}

/** Reads the flags of a kube-apiserver from its static pod. Returns false for a pod of another program. */
function readPod(document: JsonObject, into: Values, reading: Reading): boolean {
  const { path, problems } = reading;
  const found = programInPod(document, 'kube-apiserver');
  if (!found) return false;
  if ('unreadable' in found) {
    problems.push(`The pod ${podName(document)} in ${path} ${found.unreadable}.`);
    return true;
  }
  const { flags, stray } = readFlagWords(found.words, (name) => flagNamed(name) !== undefined);
  for (const word of stray) problems.push(`"${word}" in ${POD_COMMAND} in ${path} is neither a flag nor its value.`);
  const pairs = flags.map(({ name, value }) => [name, value ?? ''] as const);
  takeFlags(pairs, into, POD_COMMAND, reading);
  for (const [name, values] of into) {
    const unresolved = values.find(hasReference);
    if (unresolved === undefined) continue;
    problems.push(`--${name} in ${POD_COMMAND} in ${path} is "${unresolved}", which only the kubelet can resolve.`);
  }
  return true;
}

function podName(document: JsonObject): string {
  return `"${String(objectMember(document, 'metadata')['name'] ?? '')}"`;
}

/** Takes the flags that Straddle has too, and notes the names of the others. */
function takeFlags(
  pairs: readonly (readonly [string, string])[],
  into: Values,
  where: string,
  { path, command, notes }: Reading,
): void {
  const ignored: string[] = [];
  for (const [name, value] of pairs) {
    const flag = flagNamed(name);
    const isKnown = flag?.kubeApiserver && (flag.onlyFor === undefined || flag.onlyFor === command);
    if (!flag || !isKnown) ignored.push(name);
    else into.set(flag.name, REPEATABLE_KINDS.has(flag.kind) ? [...(into.get(flag.name) ?? []), value] : [value]);
  }
  if (ignored.length > 0) {
    const names = [...new Set(ignored)].map((name) => `--${name}`).join(', ');
    notes.push(`Left to kube-apiserver, from ${where} in ${path}: ${names}.`);
  }
}

function argumentPairs(extraArgs: unknown): readonly (readonly [string, string])[] | undefined {
  const entries: readonly (readonly [unknown, unknown])[] | undefined = Array.isArray(extraArgs)
    ? extraArgs.map((entry) => (isObject(entry) ? [entry['name'], entry['value'] ?? ''] : [undefined, undefined]))
    : isObject(extraArgs)
      ? Object.entries(extraArgs)
      : undefined;
  const complete = entries?.every(
    ([name, value]) => typeof name === 'string' && name !== '' && typeof value === 'string',
  );
  return complete ? (entries as readonly (readonly [string, string])[]) : undefined;
}

function textsOf(value: unknown, gates: boolean): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? value : undefined;
  if (!gates || !isObject(value)) return undefined;
  const pairs = Object.entries(value);
  return pairs.every(([, on]) => typeof on === 'string') ? pairs.map(([gate, on]) => `${gate}=${on}`) : undefined;
}

import { FAILSAFE_SCHEMA, loadAll } from 'js-yaml';
import { camelCase, type FlagCommand, REPEATABLE_KINDS } from './flag.js';
import { FLAG_SPELLINGS, type FlagName, flagForKey, flagNamed } from './flags.js';
import { nearest } from './nearest.js';

/** Values of flags from one place, as text; several for flags that may be repeated. */
export interface Layer {
  readonly source: 'command line' | 'file' | 'kubeadm';
  /** Where to look for a wrong value; '' on the command line, where it is plain. */
  readonly origin: string;
  readonly values: ReadonlyMap<FlagName, readonly string[]>;
}

export interface ConfigFile {
  readonly file: Layer;
  readonly kubeadm: Layer;
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

type Mapping = Readonly<Record<string, unknown>>;
interface Findings {
  readonly notes: string[];
  readonly problems: string[];
}
interface Reading extends Findings {
  readonly command: FlagCommand;
}

/**
 * Reads a YAML file of one or more documents: mappings without `kind` are Straddle's own keys, a kubeadm
 * `ClusterConfiguration` gives its `apiServer.extraArgs`, every other kind is somebody else's.
 */
export function readConfigFile(path: string, text: string, command: FlagCommand): ConfigFile {
  const findings: Findings = { notes: [], problems: [] };
  const own = new Map<FlagName, readonly string[]>();
  const kubeadm = new Map<FlagName, readonly string[]>();
  let used = 0;
  for (const document of documents(path, text, findings)) {
    if (document['kind'] === undefined) {
      used++;
      readStraddleKeys(path, document, own, { ...findings, command });
    } else if (document['kind'] === 'ClusterConfiguration') {
      used++;
      readExtraArgs(path, document, kubeadm, { ...findings, command });
    }
  }
  if (used === 0 && findings.problems.length === 0) {
    findings.notes.push(`${path} holds nothing for Straddle: neither its own keys nor a kubeadm ClusterConfiguration.`);
  }
  return {
    file: { source: 'file', origin: path, values: own },
    kubeadm: { source: 'kubeadm', origin: `apiServer.extraArgs in ${path}`, values: kubeadm },
    ...findings,
  };
}

/** Everything stays text (YAML's failsafe schema): flags have types of their own, and `007` is a name, not 7. */
function documents(path: string, text: string, findings: Findings): readonly Mapping[] {
  let parsed: readonly unknown[];
  try {
    parsed = loadAll(text, { schema: FAILSAFE_SCHEMA });
  } catch (error) {
    findings.problems.push(`${path} is not valid YAML: ${firstLine((error as Error).message)}.`);
    return [];
  }
  const mappings: Mapping[] = [];
  for (const document of parsed) {
    if (isMapping(document)) mappings.push(document);
    else if (document !== null && document !== undefined && document !== '') {
      findings.problems.push(`${path} must hold \`flag: value\` lines, without the leading dashes.`);
    }
  }
  return mappings;
}

function readStraddleKeys(
  path: string,
  document: Mapping,
  into: Map<FlagName, readonly string[]>,
  findings: Reading,
): void {
  for (const [key, value] of Object.entries(document)) {
    const flag = flagForKey(key);
    if (!flag) {
      findings.problems.push(unknownKey(path, key));
      continue;
    }
    if (flag.onlyFor !== undefined && flag.onlyFor !== findings.command) {
      findings.problems.push(`"${key}" in ${path} is only for \`straddle ${flag.onlyFor}\`.`);
      continue;
    }
    if (flag.commandLineOnly) {
      findings.problems.push(`"${key}" in ${path} can only be given on the command line, as --${flag.name}.`);
      continue;
    }
    const texts = textsOf(value, flag.kind === 'gates');
    if (!texts || (texts.length !== 1 && !REPEATABLE_KINDS.has(flag.kind))) {
      findings.problems.push(`"${key}" in ${path} must be ${wanted(flag.kind)}.`);
    } else if (into.has(flag.name)) {
      findings.problems.push(`--${flag.name} is given more than once in ${path}; keep one.`);
    } else {
      into.set(flag.name, texts);
    }
  }
}

function wanted(kind: Parameters<typeof REPEATABLE_KINDS.has>[0]): string {
  if (kind === 'gates') return 'a mapping of gates to true or false, or text like "Gate=true"';
  return REPEATABLE_KINDS.has(kind) ? 'a value or a list of values' : 'one value';
}

function unknownKey(path: string, key: string): string {
  // A key is compared in the spelling it was written in, or every camelCase one would be far from its flag.
  const dashed = key.includes('-') || !/[A-Z]/.test(key);
  const suggestion = nearest(key, dashed ? FLAG_SPELLINGS : FLAG_SPELLINGS.map(camelCase));
  return `Unknown key "${key}" in ${path}.${suggestion ? ` Did you mean "${suggestion}"?` : ''}`;
}

/** kubeadm before v1beta4 has a mapping here, since then a list of name and value. What Straddle does not know is kube-apiserver's. */
function readExtraArgs(
  path: string,
  document: Mapping,
  into: Map<FlagName, readonly string[]>,
  findings: Reading,
): void {
  const apiServer = document['apiServer'];
  const extraArgs = isMapping(apiServer) ? apiServer['extraArgs'] : undefined;
  if (extraArgs === undefined || extraArgs === '') return;
  const pairs = argumentPairs(extraArgs);
  if (!pairs) {
    findings.problems.push(
      `apiServer.extraArgs in ${path} must be a mapping of names to values, or a list of entries with name and value.`,
    );
    return;
  }
  const ignored: string[] = [];
  for (const [name, value] of pairs) {
    const flag = flagNamed(name);
    const isKnown = flag?.kubeApiserver && (flag.onlyFor === undefined || flag.onlyFor === findings.command);
    if (!flag || !isKnown) ignored.push(name);
    else into.set(flag.name, REPEATABLE_KINDS.has(flag.kind) ? [...(into.get(flag.name) ?? []), value] : [value]);
  }
  if (ignored.length > 0) {
    findings.notes.push(
      `Left to kube-apiserver, from apiServer.extraArgs in ${path}: ${ignored.map((name) => `--${name}`).join(', ')}.`,
    );
  }
}

function argumentPairs(extraArgs: unknown): readonly (readonly [string, string])[] | undefined {
  const entries: readonly (readonly [unknown, unknown])[] | undefined = Array.isArray(extraArgs)
    ? extraArgs.map((entry) => (isMapping(entry) ? [entry['name'], entry['value'] ?? ''] : [undefined, undefined]))
    : isMapping(extraArgs)
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
  if (!gates || !isMapping(value)) return undefined;
  const pairs = Object.entries(value);
  return pairs.every(([, on]) => typeof on === 'string') ? pairs.map(([gate, on]) => `${gate}=${on}`) : undefined;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}

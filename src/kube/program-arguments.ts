import { isObject, type JsonObject, objectMember } from './json.js';

/** The command line of a program in a pod. */
export interface ProgramInPod {
  readonly container: JsonObject;
  /** What follows the name of the program, with references to environment variables resolved. */
  readonly words: readonly string[];
}

/** Why the command line cannot be read, as the end of a sentence about the pod; `undefined` result: not in this pod. */
export interface UnreadableProgram {
  readonly unreadable: string;
}

/** One flag of a command line; `value` is undefined for a flag without one, which is `true` for a boolean. */
export interface FlagWord {
  readonly name: string;
  readonly value: string | undefined;
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash']);

/** Finds the container that runs `program`, by its command, or by its name where the command is that of its image. */
export function programInPod(pod: JsonObject, program: string): ProgramInPod | UnreadableProgram | undefined {
  const containers = objectMember(pod, 'spec')['containers'];
  for (const container of Array.isArray(containers) ? containers.filter(isObject) : []) {
    const found = programIn(container, program);
    if (found) return found;
  }
  return undefined;
}

function programIn(container: JsonObject, program: string): ProgramInPod | UnreadableProgram | undefined {
  const isNamed = container['name'] === program;
  const command = texts(container['command']);
  const args = texts(container['args']);
  if (!command || !args)
    return isNamed ? { unreadable: 'has a command or args that are not lists of text' } : undefined;
  if (command.length === 0) return isNamed ? { container, words: resolved(args, container) } : undefined;
  const words = [...command, ...args];
  const start = words.findIndex((word) => baseName(word) === program);
  if (start >= 0) return { container, words: resolved(words.slice(start + 1), container) };
  const inShell = SHELLS.has(baseName(words[0]!)) && words.some((word) => word.includes(program));
  if (inShell) return { unreadable: `starts ${program} through a shell: list its flags in command or args instead` };
  return isNamed ? { unreadable: `has a command without ${program}` } : undefined;
}

/** Failsafe YAML has '' for an empty value. */
function texts(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null || value === '') return [];
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Replaces `$(NAME)` as the kubelet does: by a literal of `env`; `$$(NAME)` is escaped; others stay as they are. */
function resolved(words: readonly string[], container: JsonObject): readonly string[] {
  const literals = new Map<string, string>();
  for (const each of Array.isArray(container['env']) ? container['env'].filter(isObject) : []) {
    const { name, value, valueFrom } = each;
    if (typeof name === 'string' && valueFrom === undefined) literals.set(name, typeof value === 'string' ? value : '');
  }
  return words.map((word) =>
    word.replace(/\$\$|\$\(([^()]+)\)/g, (whole, name: string | undefined) => {
      if (name === undefined) return '$';
      return literals.get(name) ?? whole;
    }),
  );
}

/** Returns whether a value has a reference that only the kubelet can resolve. */
export function hasReference(value: string): boolean {
  return /\$\([^()]+\)/.test(value);
}

/**
 * Splits a command line as kube-apiserver does: `--flag=value`, `--flag value`, `-v=2`, `-v 2` and `-v2`. `hasValue` says
 * which flags always take one; other flags take the next word if it is no flag. Words that belong to no flag are returned as `stray`.
 */
export function readFlagWords(
  words: readonly string[],
  hasValue: (name: string) => boolean,
): { readonly flags: readonly FlagWord[]; readonly stray: readonly string[] } {
  const flags: FlagWord[] = [];
  const stray: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === '--') {
      stray.push(...words.slice(index + 1));
      break;
    }
    const [, name, joined] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? /^-([A-Za-z])(?:=?(.+))?$/s.exec(word) ?? [];
    if (name === undefined) {
      stray.push(word);
    } else if (joined !== undefined || word.includes('=')) {
      flags.push({ name, value: joined ?? '' });
    } else {
      const next = words[index + 1];
      const takesNext = next !== undefined && (hasValue(name) || !next.startsWith('-'));
      if (takesNext) index++;
      flags.push({ name, value: takesNext ? next : undefined });
    }
  }
  return { flags, stray };
}

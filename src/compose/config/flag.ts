/** The kinds of flags: how the text of a value is read, with the word for the value in help. */
const PLACEHOLDERS = {
  text: 'text',
  file: 'path',
  url: 'url',
  ip: 'ip',
  port: 'port',
  count: 'number',
  bytes: 'bytes',
  duration: 'duration',
  choice: 'word',
  list: 'a,b',
  urls: 'url',
  gates: 'Gate=bool',
  choices: 'a,b',
} as const;

export type FlagKind = keyof typeof PLACEHOLDERS;

/** Kinds of flags that may be repeated and take comma-separated lists. */
export const REPEATABLE_KINDS: ReadonlySet<FlagKind> = new Set(['list', 'urls', 'gates', 'choices']);

/** Sections of the help and of the reference page, in their order there. */
export const SECTIONS = [
  'General',
  'Storage',
  'API',
  'Serving',
  'Upstream',
  'Identity',
  'Peers',
  'Limits',
  'Stopping',
  'Logging',
] as const;

export type FlagSection = (typeof SECTIONS)[number];

/** The commands that take flags of this table. */
export type FlagCommand = 'proxy' | 'apiserver';

/** One flag, the only source for parsing, help, YAML keys and the reference page. */
export interface Flag {
  readonly name: string;
  /** Other spellings of the name. */
  readonly aliases?: readonly string[];
  /** A single letter, as in `-v`. */
  readonly short?: string;
  readonly kind: FlagKind;
  /** As an operator would write it; absent where there is none, or where it depends (see `defaultNote`). */
  readonly default?: string;
  readonly defaultNote?: string;
  /** Commands for which another default holds. */
  readonly defaultFor?: Partial<Record<FlagCommand, string>>;
  readonly choices?: readonly string[];
  /** Bounds of numbers, sizes in bytes and durations in milliseconds, both included. */
  readonly min?: number;
  readonly max?: number;
  readonly section: FlagSection;
  readonly description: string;
  readonly example: string;
  /** What kube-apiserver means by a flag of this name; absent for flags that only Straddle has. */
  readonly kubeApiserver?: string;
  /** Absent: every command of the table has it. */
  readonly onlyFor?: FlagCommand;
  /** Not allowed in a file. */
  readonly commandLineOnly?: boolean;
}

/** Flags by section, as the tables have them. */
export type FlagTable = Partial<Record<FlagSection, readonly FlagEntry[]>>;

/** A flag in a table, without its section. `example` is absent where it would be the default. */
export type FlagEntry = Omit<Flag, 'section' | 'example'> & { readonly example?: string };

/** Returns the other spelling of a name that YAML files may use: `peer-ca-file` → `peerCaFile`. */
export function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the default of a flag for one command; undefined without one. */
export function defaultOf({ default: standard, defaultFor }: Flag, command: FlagCommand): string | undefined {
  return defaultFor?.[command] ?? standard;
}

/** Returns the word for the value in help: `--peer-ca-file <path>`. */
export function placeholder({ kind, choices }: Flag): string {
  return choices?.join(kind === 'choice' ? '|' : ',') ?? PLACEHOLDERS[kind];
}

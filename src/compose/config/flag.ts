/** How a flag's text is read. `list`, `urls`, `gates` and `choices` may be repeated and take comma lists. */
export type FlagKind =
  | 'text'
  | 'file'
  | 'url'
  | 'ip'
  | 'port'
  | 'count'
  | 'bytes'
  | 'duration'
  | 'choice'
  | 'list'
  | 'urls'
  | 'gates'
  | 'choices';

export type FlagSection =
  | 'General'
  | 'Storage'
  | 'API'
  | 'Serving'
  | 'Upstream'
  | 'Identity'
  | 'Peers'
  | 'Limits'
  | 'Stopping'
  | 'Logging';

/** The commands that take flags of this table. */
export type FlagCommand = 'proxy' | 'apiserver';

/** One switch. The table of these is the only source for parsing, help, YAML keys and the reference page. */
export interface Flag {
  readonly name: string;
  /** Other spellings of the same switch. */
  readonly aliases?: readonly string[];
  /** A single letter, as in `-v`. */
  readonly short?: string;
  readonly kind: FlagKind;
  /** As an operator would write it; absent where there is none, or where it depends (see `defaultNote`). */
  readonly default?: string;
  readonly defaultNote?: string;
  readonly choices?: readonly string[];
  /** Bounds of numbers, sizes in bytes and durations in milliseconds, both included. */
  readonly min?: number;
  readonly max?: number;
  readonly section: FlagSection;
  readonly description: string;
  readonly example: string;
  /** What kube-apiserver means by a flag of this name; absent for switches that only Straddle has. */
  readonly kubeApiserver?: string;
  /** Absent: every command of the table has it. */
  readonly onlyFor?: FlagCommand;
  /** Not allowed in a file. */
  readonly commandLineOnly?: boolean;
}

export const REPEATABLE_KINDS: ReadonlySet<FlagKind> = new Set(['list', 'urls', 'gates', 'choices']);

/** `peer-ca-file` → `peerCaFile`, the other spelling that YAML files may use. */
export function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** What stands for the value in help: `--peer-ca-file <path>`. */
export function placeholder(flag: Flag): string {
  const words: Readonly<Record<FlagKind, string>> = {
    text: 'text',
    file: 'path',
    url: 'url',
    ip: 'ip',
    port: 'port',
    count: 'number',
    bytes: 'bytes',
    duration: 'duration',
    choice: flag.choices?.join('|') ?? 'word',
    list: 'a,b',
    urls: 'url',
    gates: 'Gate=bool',
    choices: flag.choices?.join(',') ?? 'a,b',
  };
  return words[flag.kind];
}

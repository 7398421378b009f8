import { camelCase, type Flag, type FlagCommand, type FlagTable, SECTIONS } from './flag.js';
import { API_SERVER_FLAGS } from './flags-api-server.js';
import { KUBE_APISERVER_FLAGS } from './flags-kube-apiserver.js';
import { STRADDLE_FLAGS } from './flags-straddle.js';

type EntryOf<Table extends FlagTable> = NonNullable<Table[keyof Table & keyof FlagTable]>[number];

export type AnyFlag =
  | EntryOf<typeof STRADDLE_FLAGS>
  | EntryOf<typeof API_SERVER_FLAGS>
  | EntryOf<typeof KUBE_APISERVER_FLAGS>;
export type FlagName = AnyFlag['name'];
type NamedFlag = Flag & { readonly name: FlagName };

/** The tables, each with the defaults for its flags. */
const TABLES: readonly (readonly [FlagTable, Partial<Flag>])[] = [
  [STRADDLE_FLAGS, {}],
  [API_SERVER_FLAGS, { onlyFor: 'apiserver' }],
  [KUBE_APISERVER_FLAGS, { kubeApiserver: 'the same' }],
];

/** Every flag, by section, then in the order of the tables. */
export const ALL_FLAGS: readonly NamedFlag[] = SECTIONS.flatMap((section) =>
  TABLES.flatMap(([table, common]) =>
    (table[section] ?? []).map((entry) => {
      const example = `--${entry.name}=${entry.default}`;
      return { example, ...common, ...entry, section } as NamedFlag;
    }),
  ),
);

export function flagsOf(command: FlagCommand): readonly NamedFlag[] {
  return ALL_FLAGS.filter(({ onlyFor }) => onlyFor === undefined || onlyFor === command);
}

const BY_SPELLING = new Map<string, NamedFlag>(
  ALL_FLAGS.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])].map((name) => [name, flag] as const)),
);
const BY_CAMEL_CASE = new Map([...BY_SPELLING].map(([name, flag]) => [camelCase(name), flag]));

/** All names of flags on a command line, aliases included. */
export const FLAG_SPELLINGS: readonly string[] = [...BY_SPELLING.keys()];

/** Returns a flag by its name or alias; underscores count as dashes, as in kube-apiserver. */
export function flagNamed(name: string): NamedFlag | undefined {
  return BY_SPELLING.get(name.replaceAll('_', '-'));
}

/** Returns a flag by a key of a YAML file: as `flagNamed`, and in camelCase. */
export function flagForKey(key: string): NamedFlag | undefined {
  return flagNamed(key) ?? BY_CAMEL_CASE.get(key);
}

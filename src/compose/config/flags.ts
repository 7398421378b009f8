import { camelCase, type Flag, type FlagCommand, type FlagSection } from './flag.js';
import { API_SERVER_FLAGS } from './flags-api-server.js';
import { KUBE_APISERVER_FLAGS } from './flags-kube-apiserver.js';
import { STRADDLE_FLAGS } from './flags-straddle.js';

export type AnyFlag =
  | (typeof KUBE_APISERVER_FLAGS)[number]
  | (typeof STRADDLE_FLAGS)[number]
  | (typeof API_SERVER_FLAGS)[number];
export type FlagName = AnyFlag['name'];
export type NamedFlag = Flag & { readonly name: FlagName };

export const SECTIONS: readonly FlagSection[] = [
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
];

/** Every switch, by section, then in the order of the tables. */
export const ALL_FLAGS: readonly NamedFlag[] = SECTIONS.flatMap((section) =>
  ([...STRADDLE_FLAGS, ...API_SERVER_FLAGS, ...KUBE_APISERVER_FLAGS] as readonly NamedFlag[]).filter(
    (flag) => flag.section === section,
  ),
);

export function flagsOf(command: FlagCommand): readonly NamedFlag[] {
  return ALL_FLAGS.filter(({ onlyFor }) => onlyFor === undefined || onlyFor === command);
}

const BY_SPELLING = new Map<string, NamedFlag>(
  ALL_FLAGS.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])].map((name) => [name, flag] as const)),
);
const BY_CAMEL_CASE = new Map([...BY_SPELLING].map(([name, flag]) => [camelCase(name), flag]));

/** Every name a flag may be given by on a command line, aliases included. */
export const FLAG_SPELLINGS: readonly string[] = [...BY_SPELLING.keys()];

/** A flag by its name or alias; underscores count as dashes, as in kube-apiserver. */
export function flagNamed(name: string): NamedFlag | undefined {
  return BY_SPELLING.get(name.replaceAll('_', '-'));
}

/** As `flagNamed`, and camelCase too: for keys of YAML files. */
export function flagForKey(key: string): NamedFlag | undefined {
  return flagNamed(key) ?? BY_CAMEL_CASE.get(key);
}

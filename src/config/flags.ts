import { camelCase, type Flag, type FlagSection } from './flag.js';
import { KUBE_APISERVER_FLAGS } from './flags-kube-apiserver.js';
import { STRADDLE_FLAGS } from './flags-straddle.js';

export type FlagName = (typeof KUBE_APISERVER_FLAGS)[number]['name'] | (typeof STRADDLE_FLAGS)[number]['name'];

export const SECTIONS: readonly FlagSection[] = [
  'General',
  'Serving',
  'Upstream',
  'Identity',
  'Peers',
  'Limits',
  'Stopping',
  'Logging',
];

/** Every switch of `straddle proxy`, by section, then in the order of the tables. */
export const PROXY_FLAGS: readonly (Flag & { readonly name: FlagName })[] = SECTIONS.flatMap((section) =>
  [...STRADDLE_FLAGS, ...KUBE_APISERVER_FLAGS].filter((flag) => flag.section === section),
);

const BY_SPELLING = new Map<string, Flag & { readonly name: FlagName }>(
  PROXY_FLAGS.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])].map((name) => [name, flag] as const)),
);
const BY_CAMEL_CASE = new Map([...BY_SPELLING].map(([name, flag]) => [camelCase(name), flag]));

/** Every name a flag may be given by on a command line, aliases included. */
export const FLAG_SPELLINGS: readonly string[] = [...BY_SPELLING.keys()];

/** A flag by its name or alias; underscores count as dashes, as in kube-apiserver. */
export function flagNamed(name: string): (Flag & { readonly name: FlagName }) | undefined {
  return BY_SPELLING.get(name.replaceAll('_', '-'));
}

/** As `flagNamed`, and camelCase too: for keys of YAML files. */
export function flagForKey(key: string): (Flag & { readonly name: FlagName }) | undefined {
  return flagNamed(key) ?? BY_CAMEL_CASE.get(key);
}
